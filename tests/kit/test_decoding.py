"""Sentences in the encodings of their languages, with nothing that names one: each is read as it was written."""

from __future__ import annotations

import random

import pytest

from app.kit.decoding import decoded, decoded_page

WEST = ("cp1252", "iso-8859-1")
MIDDLE = ("cp1250", "iso-8859-2")
CYRILLIC = ("cp1251", "koi8-r", "cp866", "iso-8859-5")
GREEK = ("cp1253", "iso-8859-7")
SENTENCES = [
    (("cp1252",), "He said “yes” – it’s true"),
    (
        ("cp1252",),
        "The café’s owner said it costs £20 – that’s “fair”, she thinks, since naïve guests pay €30 elsewhere.",
    ),
    (("cp1252",), "Paul’s “résumé” was sent…"),
    (WEST, "Zoë"),
    (WEST, "20 °C, ± 2"),
    (WEST, "The temperature is 20 °C ± 2, the area 15 m², the price £12 and the section § 4 of the law © 2020."),
    (WEST, "½ cup of sugar, ¼ of salt"),
    (WEST, "The report was written by Zoë and François in the spring; all other words of it are plain English."),
    (WEST, "Mr Müller"),
    (WEST, "Die Straße ist größer geworden"),
    (WEST, "Die Bürger von Köln müssen künftig höhere Gebühren für Straßenbahnen zahlen, weil sie größere Züge kauft."),
    (WEST, "fermé à Noël"),
    (WEST, "où êtes-vous allés hier"),
    (WEST, "L'été dernier, nous avons dîné près de la forêt où le garçon élevait des chèvres, et il était très fâché."),
    (WEST, "El niño comió"),
    (WEST, "¿Qué hora es, señora?"),
    (WEST, "¿Dónde está la montaña que el señor Muñoz subió ayer? Según él, la vista es increíble al atardecer."),
    (WEST, "A informação não está"),
    (WEST, "As eleições são amanhã"),
    (WEST, "As opiniões e as decisões põem em questão as razões"),
    (WEST, "Não há razão para que a população do município não participe da eleição; então, decidirá o coração."),
    (WEST, "La città è più bella"),
    (WEST, "Perché no? Sarà così, però"),
    (
        WEST,
        "Perché la libertà è così importante? Già nel 1848 la società capì che ciò che è giusto può essere difficile.",
    ),
    (WEST, "Zoë eet een appel"),
    (
        WEST,
        "De financiële crisis heeft geïnteresseerde coöperaties beïnvloed; België reageerde met één ruïne van beleid.",
    ),
    (WEST, "Åsa köpte två ägg"),
    (WEST, "På ön växer många träd, och varje vår kommer fåglarna åter för att bygga nya bon högt över sjön."),
    (WEST, "Rødgrød med fløde på"),
    (WEST, "Københavns rådhus ligger på pladsen, hvor børnene om søndagen spiser æbler og følger fuglene over åen."),
    (WEST, "Blåbærsyltetøy er godt"),
    (WEST, "Været på Sørlandet blir fint i påsken, og mange går på ski i fjellet før de drar hjem på søndag."),
    (WEST, "Hyvää päivää ystäväni"),
    (
        WEST,
        "Syksyllä järvien ympärillä näkyy värikkäitä lehtiä, ja lähes jokainen suomalainen lähtee mökille sähköttä.",
    ),
    (WEST, "Það er gott veður"),
    (WEST, "Íslenska þjóðin býr við strendur landsins þar sem veðrið breytist ört og fiskimiðin eru auðug á veturna."),
    (WEST, "L'àvia viu a València"),
    (WEST, "El president de la Generalitat va dir que això és una qüestió de país, i que l'acció començarà després."),
    (("cp1252", "cp1257"), "Täna õhtul läheme sõpradega mõisa"),
    (MIDDLE, "Zażółć gęślą jaźń"),
    (MIDDLE, "Gdzie jest książka, którą kupiłem?"),
    (
        MIDDLE,
        "Święta Bożego Narodzenia spędziliśmy w górach, gdzie śnieg leżał aż do połowy kwietnia, a mróz był duży.",
    ),
    (MIDDLE, "Příliš žluťoučký kůň pěl"),
    (MIDDLE, "Děkuji, mám se dobře"),
    (MIDDLE, "Včera večer jsme šli do divadla, kde hráli hru o mladém muži, který se zamiloval do dcery nepřítele."),
    (MIDDLE, "Az őrült tűző nap"),
    (MIDDLE, "Jó reggelt, hölgyem és uram, a nő főz"),
    (MIDDLE, "A magyar nép évszázadokon át küzdött a függetlenségért, és végül győzött; a költők erről írtak műveket."),
    (MIDDLE, "Čovjek želi živjeti mirno"),
    (
        MIDDLE,
        "Hrvatska obala ima više od tisuću otoka, a ljeti dolaze gosti iz čitavog svijeta koji žele uživati u moru.",
    ),
    (MIDDLE, "Ţara noastră este frumoasă"),
    (MIDDLE, "Pădurile şi munţii din această ţară sunt vizitate în fiecare an de mii de turişti care caută linişte."),
    (CYRILLIC, "Я люблю читать книги"),
    (CYRILLIC, "Сегодня хорошая погода"),
    (CYRILLIC, "Вчера вечером мы гуляли по набережной и говорили о том, как быстро изменился наш город за эти годы."),
    (("cp1251",), "Їжак живе у лісі"),
    (
        ("cp1251",),
        "Українська мова має багату історію, і її вивчення приносить радість тим, хто цікавиться культурою народу.",
    ),
    (("cp1251",), "Аз живея в София"),
    (("cp1251",), "Българският език е част от южнославянската група езици и се пише с кирилица от девети век насам."),
    (GREEK, "Καλημέρα σε όλους τους φίλους"),
    (GREEK, "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και μία από τις αρχαιότερες πόλεις του κόσμου με μακρά ιστορία."),
    (("cp1254",), "Güneş bugün çok sıcak"),
    (
        ("cp1254",),
        "İstanbul'da yaşayan insanlar her gün işe gitmek için vapura biniyor ve çayını içerken denizi seyrediyor.",
    ),
    (("cp1255",), "שלום לכל החברים שלי"),
    (("cp1255",), "ירושלים היא עיר הבירה של מדינת ישראל והעיר הגדולה ביותר בה מבחינת מספר התושבים ושטח."),
    (("cp1256",), "مرحبا بكم في بيتنا"),
    (("cp1256",), "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها من حيث عدد السكان والمساحة في المنطقة كلها."),
    (("shift_jis", "euc_jp"), "今日はとても良い天気です"),
    (("shift_jis", "euc_jp"), "私の名前は田中です。"),
    (
        ("shift_jis", "euc_jp"),
        "東京は日本の首都であり、世界でも有数の大都市として知られています。カタカナの言葉もたくさんあります。",
    ),
    (("euc_kr",), "오늘은 날씨가 매우 좋습니다"),
    (
        ("euc_kr",),
        "서울은 대한민국의 수도이며 인구가 가장 많은 도시로서 정치와 경제와 문화의 중심지 역할을 하고 있습니다.",
    ),
    (("gb18030",), "今天天气非常好"),
    (("gb18030",), "我们明天去北京看朋友"),
    (("gb18030",), "北京是中华人民共和国的首都，也是全国的政治中心和文化中心，每年有很多游客来到这里参观故宫和长城。"),
    (("big5",), "今天天氣非常好"),
    (("big5",), "我們明天去臺北看朋友"),
    (("big5",), "臺北是臺灣的首都，也是全國的政治中心和文化中心，每年有許多遊客來到這裡參觀博物館和夜市。"),
    (("cp874",), "สวัสดีครับเพื่อนทุกคน"),
    (("cp874",), "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทยและเป็นศูนย์กลางการปกครองการศึกษาและการคมนาคมขนส่ง"),
]
WRITTEN = [(name, text) for names, text in SENTENCES for name in names]


@pytest.mark.parametrize(("encoding", "text"), WRITTEN)
def test_a_sentence_is_read_as_it_was_written_in_any_encoding_of_its_language(encoding, text):
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize(("encoding", "text"), [("cp1252", "Mr Müller"), ("koi8-r", "Я люблю читать книги")])
def test_a_charset_that_does_not_fit_is_not_believed(encoding, text):
    assert decoded(text.encode(encoding), "utf-8") == text
    assert decoded(text.encode(encoding), "ascii") == text


@pytest.mark.parametrize("charset", [None, "utf-8"])
def test_one_lost_byte_does_not_change_how_the_others_are_read(charset):
    whole = "Grüße aus Köln, wo der Dom über dem Rhein steht. " * 9
    assert decoded(whole.encode() + b"\xc3", charset) == whole + "\ufffd"


def test_latin_1_is_what_browsers_take_it_for():
    assert decoded("“Grüße”".encode("cp1252"), "iso-8859-1") == "“Grüße”"


@pytest.mark.parametrize(
    "body", [bytes(range(1, 256)), random.Random(5).randbytes(2_000), b"\x89PNG\r\n\x1a\n\x01\x02"]
)
def test_what_is_no_text_is_in_no_encoding(body):
    assert decoded(body) is None


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="windows-1251">', "cp1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"),
        ("<meta charset=utf-16>", "utf-8"),
        ("", "utf-8"),
        ("", "cp1251"),
    ],
)
def test_a_page_is_read_as_it_says_or_else_as_it_looks(head, encoding):
    page = f"<html><head>{head}</head><body><p>Сегодня хорошая погода</p></body></html>"
    assert decoded_page(page.encode(encoding)) == page


def test_a_pages_declaration_names_its_charset_and_is_left_out():
    page = "<html><body><p>Сегодня хорошая погода</p></body></html>"
    assert decoded_page(f'<?xml version="1.0" encoding="koi8-r"?>{page}'.encode("koi8-r")) == page
