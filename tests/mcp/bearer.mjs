// The conformance suite cannot send a token. Loaded before it (`node --import`), this adds one to every request of the
// process, and changes nothing else.

import { Agent, setGlobalDispatcher } from "undici";

const authorization = `Bearer ${process.env.HANDBILL_TEST_TOKEN}`;

setGlobalDispatcher(
  new Agent().compose(
    (dispatch) => (request, handler) =>
      dispatch({ ...request, headers: { ...request.headers, authorization } }, handler),
  ),
);
