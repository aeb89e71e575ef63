import { malformedInText, type DescribeMalformed } from '@gateway/server'
import { contentType, wrongMethod } from './answer.ts'
import { endpoints, mount } from './routes.ts'

/** A method that HTTP does not have is refused by an endpoint as any other one (ruling 3.1). */
export const describeMalformed: DescribeMalformed = (malformed) => {
  const isEndpoint = endpoints.has(malformed.path.replace(mount, '').toLowerCase())
  const { status, text, headers } = wrongMethod
  return malformed.status === status && isEndpoint
    ? { status, contentType, headers, body: text }
    : malformedInText(malformed)
}
