import { createBackOffice } from '@gateway/core'
import { anAccount } from '@gateway/core/testing'
import { startRest, type Rest } from '../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/subaccounts'
const listOf = (answer: { text: string }) => /"statusCode":200,(.*)\}$/.exec(answer.text)?.[1]

test('the sub accounts of a main account, by number, with every field in the ruled order', async () => {
  const { ports, account } = rest
  const first = await anAccount(ports, { parent: account.id, login: 'b"1', firstName: 'É\n', surname: '"', credits: 5 })
  await anAccount(ports)
  const second = await anAccount(ports, { parent: account.id, login: 'a', credits: 12_340 })
  expect(listOf(await rest.get(path))).toBe(
    `"subAccounts":[{"accountNumber":${first.id},"loginName":"b\\"1","firstName":"É\\n","surname":"\\"","creditBalance":0.5},` +
      `{"accountNumber":${second.id},"loginName":"a","firstName":"Ada","surname":"Lovelace","creditBalance":1234.0}]`,
  )
})

test('a locked account can read the list, and locked sub accounts are listed', async () => {
  await anAccount(rest.ports, { parent: rest.account.id, locked: true })
  await createBackOffice(rest.ports).commands.lockAccount(rest.account.id)
  expect((await rest.get(path)).body).toMatchObject({ subAccounts: [{ creditBalance: 100 }] })
})

test('a failing database leads to 503 with the envelope and not to an empty list', async () => {
  const broken = await startRest({
    gateway: (gateway) => ({
      ...gateway,
      queries: { ...gateway.queries, listSubAccounts: () => Promise.reject(new Error('lost')) },
    }),
  })
  expect((await broken.get(path)).status).toBe(503)
  await broken.close()
})
