/**
 * Makes an asynchronous method of a port from `work`, which runs in one synchronous step in a later microtask. No other
 * call runs in between, and callers see the effect only after they have awaited the promise. If `work` throws, the
 * promise rejects.
 */
export const atomic =
  <A extends readonly unknown[], R>(work: (...args: A) => R): ((...args: A) => Promise<R>) =>
  (...args) =>
    Promise.resolve().then(() => work(...args))
