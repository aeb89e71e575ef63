import { arrive, assign } from '@gateway/core/testing'
import { answer, serveXml, type Served } from '../../testing/serve-xml.ts'

const root = 'XMLGateway_SCmessages'
const path = '/api/xmlgetscmessages.asp'
const asking = ({ key }: Served) => `<Svc_SCmessages><ApiKey>${key}</ApiKey></Svc_SCmessages>`
const takeMessages = async (served: Served) => (await served.post(path, asking(served))).text

test('each message to a code is returned once, oldest first, and not as a reply afterwards', async () => {
  const served = await serveXml()
  await assign(served.ports, served.account, '40404')
  await arrive(served.ports, '27825550101', 'a & b\f', '40404')
  served.clock.step(60)
  await arrive(served.ports, 'A<B', 'two', '40404')
  const document = await takeMessages(served)
  expect(document).toBe(
    answer(
      root,
      '<SCmessage><SC>40404</SC><CLI>27825550101</CLI><DateReceived>202610181000</DateReceived><Message>a &amp; b </Message></SCmessage>' +
        '<SCmessage><SC>40404</SC><CLI>A&lt;B</CLI><DateReceived>202610181001</DateReceived><Message>two</Message></SCmessage>',
    ),
  )
  expect(await takeMessages(served)).toBe(answer(root))
  const replies = await served.post(
    '/api/xmlgetreplies.asp',
    `<Svc_Replies><ApiKey>${served.key}</ApiKey></Svc_Replies>`,
  )
  expect(replies.text).toBe(answer('XMLGateway_Replies'))
})
