import { malformedInText, type DescribeMalformed } from '@gateway/server'
import { contentType, inError } from './answer.ts'
import { endpoints, mount } from './routes.ts'

/** A method that HTTP does not have is refused by an operation as any other one (ruling 4.10). */
export const describeMalformed: DescribeMalformed = (malformed) => {
  const endpoint = endpoints.get(malformed.path.replace(mount, '').toLowerCase())
  const { status, content } = inError({ trouble: 'wrong-method' })
  return malformed.status === status && endpoint !== undefined
    ? { status, contentType, headers: { Allow: 'POST' }, body: endpoint.inRoot(content) }
    : malformedInText(malformed)
}
