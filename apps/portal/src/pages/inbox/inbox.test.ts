import { anAccount, arrive, assign, write } from '@gateway/core/testing'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeEach(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

const rows = async (path: string): Promise<readonly string[]> =>
  (await visitor.get(path)).html.querySelectorAll('tbody tr td:nth-child(2)').map((cell) => cell.textContent)

test('an empty inbox says what would be in it', async () => {
  expect((await visitor.get('/inbox')).text).toContain('What people answer to your messages is listed here')
})

test('replies are listed with the latest first and the message they answer, and are taken from nobody', async () => {
  const [id = 0] = await write(portal.ports, portal.account, '27820000001')
  for (let i = 1; i <= 27; i++) await arrive(portal.ports, '27820000001', `answer ${i}`)
  expect((await rows('/inbox'))[0]).toBe('answer 27')
  expect(await rows('/inbox')).toHaveLength(25)
  expect(await rows('/inbox?older=25')).toEqual(['answer 2', 'answer 1'])
  const { html } = await visitor.get('/inbox')
  expect(html.querySelector('tbody a')?.getAttribute('href')).toBe(`/messages/${id}`)
  expect(html.querySelectorAll('tbody a').map((link) => link.getAttribute('href'))).toContain('/send?to=27820000001')
  const taken = await portal.gateway.takeReplies(portal.account, 'with-short-codes')
  expect(taken.messages).toHaveLength(27)
  expect(await rows('/inbox')).toHaveLength(25)
})

test('what was sent to a code of the account has a list of its own', async () => {
  await assign(portal.ports, portal.account, '45678')
  await arrive(portal.ports, '27820000001', 'JOIN', '45678')
  expect(await rows('/inbox/codes')).toEqual(['JOIN'])
  expect(await rows('/inbox')).toEqual([])
  expect((await visitor.get('/inbox')).html.querySelector('.tabs a[href="/inbox/codes"]')).not.toBeNull()
})

test('replies to another account are not shown', async () => {
  const other = await anAccount(portal.ports)
  await write(portal.ports, other, '27820000002')
  await arrive(portal.ports, '27820000002', 'not yours')
  expect(await rows('/inbox')).toEqual([])
})
