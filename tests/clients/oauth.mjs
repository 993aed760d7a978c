// Drives the service through OAuth with the TypeScript SDK (v1 or v2), told by lines of JSON on stdin and stdout.
// Run in the folder that has both SDKs.
import { createInterface } from "node:readline";

const [version, url, metadataUrl] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hear = async () => (await lines.next()).value;
const say = (message) => console.log(JSON.stringify(message));

const modules =
  version === "v2"
    ? ["@modelcontextprotocol/client"]
    : [
        "@modelcontextprotocol/sdk/client/index.js",
        "@modelcontextprotocol/sdk/client/streamableHttp.js",
        "@modelcontextprotocol/sdk/client/auth.js",
      ];
const sdk = Object.assign({}, ...(await Promise.all(modules.map((name) => import(name)))));

const kept = {};
const provider = {
  redirectUrl: "http://127.0.0.1:43210/callback",
  ...(metadataUrl ? { clientMetadataUrl: metadataUrl } : {}),
  clientMetadata: {
    client_name: `TypeScript ${version}`,
    redirect_uris: ["http://127.0.0.1:43210/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => void (kept.discovery = state),
  discoveryState: () => kept.discovery,
  redirectToAuthorization: (authorize) => say({ authorize: authorize.href }),
};

async function call(name, args) {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const transport = new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const client = new sdk.Client(
      { name: "proof", version: "1.0.0" },
      version === "v2" ? { versionNegotiation: { mode: "auto" } } : undefined,
    );
    try {
      await client.connect(transport);
      const result = await client.callTool({ name, arguments: args });
      await client.close();
      return result;
    } catch (error) {
      if (!(error instanceof sdk.UnauthorizedError)) throw error;
      const answer = new URL(await hear()).searchParams;
      await transport.finishAuth(version === "v2" ? answer : answer.get("code"));
    }
  }
  throw new Error("still unauthorized");
}

const me = await call("get_user_info", {});
const made = await call("create_document", { title: "By OAuth", content: "Hello" });
say({ paused: true });
await hear();
const before = kept.tokens;
const again = await call("get_user_info", {});
say({
  me,
  made,
  again,
  clientId: kept.client.client_id,
  scope: kept.tokens.scope,
  refreshed: before.access_token !== kept.tokens.access_token && before.refresh_token !== kept.tokens.refresh_token,
});
process.exit(0);
