import { parseMessageId, type MessageId } from '@gateway/core'
import { errorText } from './answer.ts'
import { list, type Parameters } from './parameters.ts'

const idsMax = 100

/** `messageid`: 1 to 100 pieces, as given; otherwise the answer that says what is wrong (ruling 3.5). */
export function messageIds(parameters: Parameters): readonly string[] | string {
  const ids = list(parameters, 'messageid')
  if (ids.length === 0) return errorText('No message ids supplied')
  return ids.length > idsMax ? errorText('Too many message ids supplied') : ids
}

/**
 * Looks up those of `given` that are ids, in one call, and pairs each piece, in order, with what was found; with `nothing` where it
 * is no id (ruling 3.5).
 */
export async function foundFor<Found>(
  given: readonly string[],
  nothing: Found,
  lookUp: (ids: readonly MessageId[]) => Promise<readonly Found[]>,
): Promise<readonly { readonly text: string; readonly found: Found }[]> {
  const ids = given.map(parseMessageId)
  const found = (await lookUp(ids.filter((id) => id !== undefined))).values()
  return given.map((text, i) => ({ text, found: (ids[i] === undefined ? undefined : found.next().value) ?? nothing }))
}
