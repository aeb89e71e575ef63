/** Thrown by a case for which the configuration names too little. */
export class NotTestable extends Error {}
