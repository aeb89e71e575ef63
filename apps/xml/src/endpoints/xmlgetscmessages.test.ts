import { errorIn, serveXml } from '../../testing/serve-xml.ts'
import { complaints } from '../../testing/validate.ts'

const root = 'XMLGateway_SCmessages'

test.each<[string, (key: string) => string, number, string]>([
  ['no document, before credentials', () => '<Svc_SCmessages', 200, 'Not Valid XML Document'],
  ['another root, before credentials', () => '<Svc_StatusRequest/>', 200, 'Not Valid XML Document'],
  ['wrong credentials', () => '<Svc_SCmessages><ApiKey>wrong</ApiKey></Svc_SCmessages>', 200, 'Authentication failed'],
  [
    'a right request: not available in this version',
    (key) => `<Svc_SCmessages><ApiKey>${key}</ApiKey></Svc_SCmessages>`,
    501,
    'Not available in this version',
  ],
])('%s', async (_, documentFor, status, error) => {
  const { post, key } = await serveXml()
  const answered = await post('/api/xmlgetscmessages.asp', documentFor(key))
  expect([answered.status, answered.text]).toEqual([status, errorIn(root, error)])
  expect(await complaints('short-code', [answered.text])).toEqual([])
})
