// Drives the service with the TypeScript SDK v1 and prints what it saw as JSON. Run in the folder that has the SDK.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, authorization] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: authorization } } });
const client = new Client({ name: "proof", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools();
const call = (name, args) => client.callTool({ name, arguments: args });
const made = await call("create_document", { title: "From TypeScript", content: "Hello", tags: ["ts"] });
const documentId = made.structuredContent.data.id;
const read = await call("get_document", { documentId });
const failed = await call("get_document", { documentId: "none" });
let unknown = null;
try {
  await call("no_such_tool", {});
} catch (error) {
  unknown = error.code;
}
const deleted = await call("delete_document", { documentId });
const resources = await client.listResources();
console.log(
  JSON.stringify({
    server: client.getServerVersion(),
    protocolVersion: transport.protocolVersion,
    tools: tools.map((tool) => tool.name),
    read,
    failed,
    unknown,
    deleted,
    resources: resources.resources.map((resource) => resource.uri),
  }),
);
await client.close();
