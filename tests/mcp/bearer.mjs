// The conformance suite cannot send a token. Loaded before it (`node --import`), this gives one to all that its process
// asks, and changes nothing else.

import { Agent, setGlobalDispatcher } from "undici";

const authorization = `Bearer ${process.env.HANDBILL_TEST_TOKEN}`;

setGlobalDispatcher(
  new Agent().compose(
    (dispatch) => (request, handler) =>
      dispatch({ ...request, headers: { ...request.headers, authorization } }, handler),
  ),
);
