// Publishes with the client that hey-api generated.

import { listArtifacts, publish } from "./hey";
import { createClient } from "./hey/client";

async function main() {
  const client = createClient({ baseUrl: process.env.HANDBILL_TEST_BASE_URL, auth: process.env.HANDBILL_TEST_TOKEN });
  const { data, error } = await publish({ client, body: { slug: "by-hey", html: "<h1>By hey-api</h1>" } });
  if (!data) throw new Error(JSON.stringify(error));
  const { data: listed } = await listArtifacts({ client });
  if (!listed?.some((artifact) => artifact.slug === "by-hey")) throw new Error(JSON.stringify(listed));
  console.log("published", "url" in data ? data.url : data);
}

main();
