import { errorIn, serveXml } from '../../testing/serve-xml.ts'
import { complaints } from '../../testing/validate.ts'

const root = 'XMLGatewayDeleteScheduled_Response'
const asked = (id: string | number): string => `<MessageID><ID>${id}</ID><CLI>27825550101</CLI></MessageID>`
const documentOf = (key: string, ids: string): string =>
  `<Svc_DeleteScheduled><ApiKey>${key}</ApiKey><MessageIDs>${ids}</MessageIDs></Svc_DeleteScheduled>`

const rows: readonly [string, (key: string) => string, number, string][] = [
  ['no document, before credentials', () => '<Svc_DeleteScheduled', 200, 'Not Valid XML Document'],
  [
    'the root of a status request',
    (key) => documentOf(key, asked(1)).replaceAll('_DeleteScheduled', '_StatusRequest'),
    200,
    'Not Valid XML Document',
  ],
  [
    'credentials, before an id and too many ids',
    () => documentOf('wrong', asked('x').repeat(1001)),
    200,
    'Authentication failed',
  ],
  ['no id', (key) => documentOf(key, ''), 200, 'Not Valid XML Document'],
  [
    'one bad id, before too many',
    (key) => documentOf(key, asked(1).repeat(1000) + asked('x')),
    200,
    'Not Valid XML Document',
  ],
  ['1001 ids', (key) => documentOf(key, asked(1).repeat(1001)), 200, 'Too Many Message IDs'],
  [
    '1000 ids: not available in this version',
    (key) => documentOf(key, asked(1).repeat(1000)),
    501,
    'Not available in this version',
  ],
]

test.each(rows)('%s', async (_, documentFor, status, error) => {
  const { post, key } = await serveXml()
  const answered = await post('/api/xmldeletescheduled.asp', documentFor(key))
  expect([answered.status, answered.text]).toEqual([status, errorIn(root, error)])
  expect(await complaints('delete', [answered.text])).toEqual([])
})
