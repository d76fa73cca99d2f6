// Publishes with the client that openapi-generator generated for TypeScript.

import { ArtifactsApi, Configuration } from "./fetch";

async function main() {
  const accessToken = process.env.HANDBILL_TEST_TOKEN;
  const api = new ArtifactsApi(new Configuration({ basePath: process.env.HANDBILL_TEST_BASE_URL, accessToken }));
  const body = { slug: "by-fetch", files: [{ path: "index.html", content: "<h1>By fetch</h1>" }] };
  const published = await api.publish({ siteInJson: body });
  const listed = await api.listArtifacts();
  if (!listed.some((artifact) => artifact.slug === "by-fetch")) throw new Error(JSON.stringify(listed));
  console.log("published", published.url);
}

main();
