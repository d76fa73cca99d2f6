// The conformance suite cannot send a token. Loaded before it (`node --import`), this adds one to every request of the
// process, and changes nothing else.

import http from "node:http";
import { Agent, setGlobalDispatcher } from "undici";

const authorization = `Bearer ${process.env.HANDBILL_TEST_TOKEN}`;

setGlobalDispatcher(
  new Agent().compose(
    (dispatch) => (request, handler) =>
      dispatch({ ...request, headers: { ...request.headers, authorization } }, handler),
  ),
);

// Some scenarios send their headers by another client.
const { request } = http;
http.request = (...given) => {
  const sent = request(...given);
  if (!sent.hasHeader("authorization")) sent.setHeader("authorization", authorization);
  return sent;
};
