/**
 * A method of a port whose whole work is one synchronous step, taken after the caller's own: other calls come before or
 * after it, never into it, and what it did is seen only by those who wait. What `work` throws rejects the promise.
 */
export const atomic =
  <A extends readonly unknown[], R>(work: (...args: A) => R): ((...args: A) => Promise<R>) =>
  (...args) =>
    Promise.resolve().then(() => work(...args))
