import { anAccount, arrive, assign, write } from '@gateway/core/testing'
import { answer, errorIn, serveXml, type Served } from '../../testing/serve-xml.ts'

const root = 'XMLGateway_SCmessages'
const path = '/api/xmlgetscmessages.asp'
const asking = ({ key }: Served) => `<Svc_SCmessages><ApiKey>${key}</ApiKey></Svc_SCmessages>`
const taken = async (served: Served) => (await served.post(path, asking(served))).text

test.each<[string, string, string]>([
  ['no document, before credentials', '<Svc_SCmessages', 'Not Valid XML Document'],
  ['another root, before credentials', '<Svc_StatusRequest/>', 'Not Valid XML Document'],
  ['wrong credentials', '<Svc_SCmessages><ApiKey>wrong</ApiKey></Svc_SCmessages>', 'Authentication failed'],
])('%s', async (_, document, error) => {
  const { post } = await serveXml()
  const answered = await post(path, document)
  expect([answered.status, answered.text]).toEqual([200, errorIn(root, error)])
})

test('each message to a code is returned once, oldest first, and is then no reply either', async () => {
  const served = await serveXml()
  await assign(served.ports, served.account, '40404')
  await arrive(served.ports, '27825550101', 'a & b\f', '40404')
  served.clock.step(60)
  await arrive(served.ports, 'A<B', 'two', '40404')
  const document = await taken(served)
  expect(document).toBe(
    answer(
      root,
      '<SCmessage><SC>40404</SC><CLI>27825550101</CLI><DateReceived>202610181000</DateReceived><Message>a &amp; b </Message></SCmessage>' +
        '<SCmessage><SC>40404</SC><CLI>A&lt;B</CLI><DateReceived>202610181001</DateReceived><Message>two</Message></SCmessage>',
    ),
  )
  expect(await taken(served)).toBe(answer(root))
  const replies = await served.post(
    '/api/xmlgetreplies.asp',
    `<Svc_Replies><ApiKey>${served.key}</ApiKey></Svc_Replies>`,
  )
  expect(replies.text).toBe(answer('XMLGateway_Replies'))
})

test('replies to other addresses and messages to codes of others are not in it', async () => {
  const served = await serveXml()
  await write(served.ports, served.account, '27825550101')
  await arrive(served.ports, '27825550101', 'a reply')
  await assign(served.ports, await anAccount(served.ports, { parent: served.account.id }), '50505')
  await arrive(served.ports, '27825550101', 'hello', '50505')
  expect(await taken(served)).toBe(answer(root))
})
