import { createBackOffice, createGateway, type Ports } from '@gateway/core'
import { anAccountId, memoryPorts } from '@gateway/core/testing'
import { openDemoAccount, type DemoAccount } from './demo-account.ts'

/**
 * Simulates a first start of a process that dies at its nth use of the accounts port, either before or after that call
 * takes effect. Returns what the start showed.
 */
async function start(ports: Ports, dies?: { readonly atUse: number; readonly done: boolean }) {
  let uses = 0
  const accounts = new Proxy(ports.accounts, {
    get: (target, name) => {
      const use = Reflect.get(target, name) as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        if (dies === undefined || ++uses !== dies.atUse) return use.apply(target, args)
        // `list` only reads, so dying after it is the same case as dying before it.
        if (!dies.done || name === 'list') throw new Error('dead')
        return Promise.resolve(use.apply(target, args)).then(() => Promise.reject(new Error('dead')))
      }
    },
  })
  const shown: DemoAccount[] = []
  const opening = openDemoAccount(createBackOffice({ ...ports, accounts }), ports.secrets, (demo) => {
    shown.push(demo)
    return true
  })
  return { shown, outcome: await opening.catch((problem: unknown) => (problem as Error).message), uses }
}

const keyOpens = async (ports: Ports, demo: DemoAccount | undefined): Promise<boolean> =>
  typeof (await createGateway(ports).commands.authenticate({ apiKey: demo?.apiKey, network: '192.0.2.0/24' })) ===
  'object'

async function logins(ports: Ports): Promise<readonly string[]> {
  const all: string[] = []
  for await (const { account } of ports.accounts.list()) all.push(account.login)
  return all
}

test('on an empty database the first start shows a working key, and no later start shows another', async () => {
  const ports = memoryPorts()
  const { shown, outcome } = await start(ports)
  expect([outcome, shown.length]).toEqual([true, 1])
  expect(await keyOpens(ports, shown[0])).toBe(true)
  expect(await logins(ports)).toEqual(['demo', 'demo-sub'])
  expect(await start(ports)).toMatchObject({ outcome: false, shown: [] })
  expect(await keyOpens(ports, shown[0])).toBe(true)
})

test('whenever a first start dies, the key shown last works, and the next start completes the demo account', async () => {
  const { uses } = await start(memoryPorts(), { atUse: 1000, done: false })
  expect(uses).toBeGreaterThan(3)
  let shownAgain = 0
  for (let atUse = 1; atUse <= uses; atUse++) {
    for (const done of [false, true]) {
      const ports = memoryPorts()
      const first = await start(ports, { atUse, done })
      expect(first.outcome).toBe('dead')
      const next = await start(ports)
      const last = [...first.shown, ...next.shown].at(-1)
      expect(await keyOpens(ports, last)).toBe(true)
      expect(await logins(ports)).toEqual(['demo', 'demo-sub'])
      const main = await ports.accounts.find(anAccountId(1))
      expect(main?.balance).toBe(10_000)
      if (first.shown.length + next.shown.length === 2) shownAgain++
      for (const earlier of first.shown.slice(0, next.shown.length)) expect(await keyOpens(ports, earlier)).toBe(false)
    }
  }
  expect(shownAgain).toBeGreaterThan(0)
})

test('after a failure to show a key, the next start shows a new one', async () => {
  const ports = memoryPorts()
  expect(await openDemoAccount(createBackOffice(ports), ports.secrets, () => false)).toBe(false)
  const { shown } = await start(ports)
  expect(await keyOpens(ports, shown[0])).toBe(true)
})

test.each([
  ['an account of the operator', [{ login: 'acme' }]],
  ['an account that only has the name of the demo', [{ login: 'demo', firstName: 'Ann', surname: 'Mo' }]],
  [
    'an unfinished demo account beside another one',
    [{ login: 'demo', firstName: 'Demo', surname: 'Account' }, { login: 'acme' }],
  ],
])('with %s, no account is opened, shown or changed', async (_what, opened) => {
  const ports = memoryPorts()
  const backOffice = createBackOffice(ports)
  for (const account of opened) await backOffice.commands.openAccount(account)
  expect(await start(ports)).toMatchObject({ outcome: false, shown: [] })
  expect(await logins(ports)).toEqual(opened.map(({ login }) => login))
  expect(await backOffice.queries.listApiKeys(anAccountId(1))).toEqual([])
})
