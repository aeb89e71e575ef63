import type { AccountId } from '@gateway/core/accounts'
import type { ClaimedMessage } from '@gateway/core/dispatch'
import {
  bodyOf,
  type Body,
  type MessageId,
  noOptions,
  type ClaimedOptions,
  type SenderAddress,
  type SenderOver,
} from '@gateway/core/messages'
import type { Suppression } from '@gateway/core/suppressions'
import { numbersFromArray } from '../sql/arrays.ts'
import type { ClaimedRange } from '../sql/claim.ts'
import { suppressionOf } from '../stored-codes.ts'

const nobody: ReadonlySet<Suppression> = new Set()

/**
 * Returns the messages of claimed ranges by id. `addresses` has sender addresses by their id. Equal texts share a body.
 */
export function claimedMessages(
  ranges: readonly ClaimedRange[],
  addresses: ReadonlyMap<number, SenderAddress>,
  senderOver: (account: AccountId, from: SenderAddress | undefined) => SenderOver,
): ClaimedMessage[] {
  const bodies = new Map<string, Body>()
  const messages: ClaimedMessage[] = []
  for (const range of [...ranges].sort((a, b) => a.lo - b.lo)) {
    const body = bodies.get(range.body) ?? storedBody(range)
    bodies.set(range.body, body)
    const over = senderOver(range.account, addressOf(range, addresses))
    const options = optionsOf(range)
    const suppressed = range.suppressed === null ? undefined : byPosition(range.suppressed)
    for (const [i, number] of numbersFromArray(range.numbers).entries()) {
      messages.push({
        id: (range.lo + i) as MessageId,
        send: range.send,
        account: range.account,
        from: over.from,
        onlyOver: over.onlyOver,
        to: number,
        body,
        due: range.due,
        expires: range.expires ?? undefined,
        options,
        confirmation: range.confirmsOptOut,
        attempt: range.attempt,
        accountLocked: range.locked,
        suppressions: suppressed?.get(i + 1) ?? nobody,
      })
    }
  }
  return messages
}

function optionsOf({ priority, flash, options }: ClaimedRange): ClaimedOptions {
  if (priority === 0 && !flash && options === null) return noOptions
  return {
    ...options,
    ...(priority !== 0 && { priority }),
    ...(flash && { flash }),
  }
}

/** Returns the ids of the sender addresses that `claimedMessages` needs. */
export const sendersOf = (ranges: readonly ClaimedRange[]): ReadonlySet<number> =>
  new Set(ranges.flatMap(({ sender }) => (sender === 0 ? [] : sender)))

function addressOf({ sender }: ClaimedRange, addresses: ReadonlyMap<number, SenderAddress>): SenderAddress | undefined {
  if (sender === 0) return undefined
  const address = addresses.get(sender)
  if (address === undefined) throw new Error(`there is no sender address with the id ${sender}`)
  return address
}

/**
 * Returns the body of an accepted message. If this version would refuse its text, the message is still sent, in UCS-2,
 * which can encode any text.
 */
function storedBody({ body: text, parts }: ClaimedRange): Body {
  const body = bodyOf(text)
  return typeof body === 'string' ? { text, encoding: 'ucs-2', parts } : body
}

function byPosition(
  suppressed: NonNullable<ClaimedRange['suppressed']>,
): ReadonlyMap<number, ReadonlySet<Suppression>> {
  const found = new Map<number, Set<Suppression>>()
  for (const [position, kind] of suppressed)
    found.set(position, (found.get(position) ?? new Set()).add(suppressionOf(kind)))
  return found
}
