import { errorIn, serveXml } from '../../testing/serve-xml.ts'
import { complaints } from '../../testing/validate.ts'

const root = 'XMLGateway_Replies'

test.each<[string, (key: string) => string, number, string]>([
  ['no document, before credentials', () => '<Svc_Replies', 200, 'Not Valid XML Document'],
  ['another root, before credentials', () => '<Svc_StatusRequest/>', 200, 'Not Valid XML Document'],
  ['wrong credentials', () => '<Svc_Replies><ApiKey>wrong</ApiKey></Svc_Replies>', 200, 'Authentication failed'],
  [
    'a right request: not available in this version',
    (key) => `<Svc_Replies><ApiKey>${key}</ApiKey></Svc_Replies>`,
    501,
    'Not available in this version',
  ],
])('%s', async (_, documentFor, status, error) => {
  const { post, key } = await serveXml()
  const answered = await post('/api/xmlgetreplies.asp', documentFor(key))
  expect([answered.status, answered.text]).toEqual([status, errorIn(root, error)])
  expect(await complaints('replies', [answered.text])).toEqual([])
})
