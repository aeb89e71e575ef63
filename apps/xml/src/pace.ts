import type { TimeSlices } from '@gateway/server'
import type { Pace } from './reading/read-arriving.ts'
import type { SignIn } from './sign-in.ts'

/** So much of a document is read before anybody asks who sends it; a single send has some 400 characters. */
const unknownCharactersMax = 8192
const waitMsMax = 10_000

/**
 * The pace at which a document is read: at its network's turn at first, then at that of its account. Where its credentials are wrong,
 * or come last, all documents like that get a part of the time together.
 */
export function paceFor(slices: TimeSlices, network: string, sender: SignIn): Pace {
  let characters = 0
  let waitedMs = 0
  return async (more, read) => {
    characters += more
    const account = characters > unknownCharactersMax ? await sender.early() : undefined
    const asked = performance.now()
    const timed = () => {
      waitedMs += performance.now() - asked
      return waitedMs > waitMsMax ? 'overloaded' : read()
    }
    if (account !== undefined) return slices.run(String(account.id), timed)
    return characters > unknownCharactersMax ? slices.runUnknown(network, timed) : slices.run(network, timed)
  }
}
