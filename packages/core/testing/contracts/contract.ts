/**
 * The promises of a port, each under the sentence that states it. A check gets a subject of its own, new and empty, and
 * throws (`node:assert`) where the promise is broken. Whoever writes another adapter runs every check against it.
 */
export type Contract<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>
