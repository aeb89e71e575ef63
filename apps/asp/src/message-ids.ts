import { errorText } from './answer.ts'
import { list, type Parameters } from './parameters.ts'

const idsMax = 100

/** `messageid`: 1 to 100 pieces, as given; otherwise the answer that says what is wrong (ruling 3.5). */
export function messageIds(parameters: Parameters): readonly string[] | string {
  const ids = list(parameters, 'messageid')
  if (ids.length === 0) return errorText('No message ids supplied')
  return ids.length > idsMax ? errorText('Too many message ids supplied') : ids
}
