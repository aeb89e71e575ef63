import { askAgainIfLost, type createClients } from './clients.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { AccountUnderTest } from './load.ts'
import type { Observations } from './observations.ts'
import type { Gateway } from './operator.ts'
import type { Member } from './processes.ts'
import { wrongBalances, wrongScheduledCounts, type readState } from './state.ts'

export async function verify(gateway: Gateway, database: Database, figures: Figures): Promise<void> {
  const { code, out } = await gateway('credits', 'verify')
  if (code !== 0) figures.broken('P-2', `credits verify: ${out}`)
  for (const { id, balance, entries } of await wrongBalances(database)) {
    figures.broken('P-2', `account ${id} has ${balance}, and its entries say ${entries}`)
  }
  for (const { account } of await wrongScheduledCounts(database)) {
    figures.broken('P-12', `account ${account} has another number of scheduled messages than is counted`)
  }
}

interface Asking {
  readonly observations: Observations
  readonly members: readonly Member[]
  readonly accounts: readonly AccountUnderTest[]
  readonly clients: ReturnType<typeof createClients>
  readonly figures: Figures
  readonly state: Awaited<ReturnType<typeof readState>>
}

/**
 * After the end of the load, requests all data as clients do. Asserts that the responses agree with the stored data.
 */
export async function askEverything({
  observations,
  members,
  accounts,
  clients,
  figures,
  state,
}: Asking): Promise<void> {
  const url = members.find(({ app }) => app === 'rest')?.url() ?? ''
  for (const { id: account, key } of accounts) {
    const ids = [...observations.messages].filter(([, message]) => message.account === account).map(([id]) => id)
    for (let at = 0; at < ids.length; at += 1000) {
      const chunk = ids.slice(at, at + 1000)
      const outcome = await askAgainIfLost(() => clients.interfaces.rest.status({ url, key }, chunk))
      if (outcome.kind !== 'answered') figures.broken('P-14', `a status query when all was over: ${outcome.kind}`)
      else compare(chunk, outcome.answer)
    }
    const balance = await askAgainIfLost(() => clients.restBalance({ url, key }))
    if (balance.kind !== 'answered' || Math.round(balance.answer * 10) !== state.balances.get(account)) {
      figures.broken('P-2', `account ${account} has ${String(state.balances.get(account))}: ${JSON.stringify(balance)}`)
    }
  }
  function compare(chunk: readonly number[], codes: readonly number[]): void {
    for (const [i, id] of chunk.entries()) {
      observations.status(id, codes[i] ?? NaN, performance.now())
      const stored = state.messages.get(id)?.code ?? -1
      if (codes[i] !== stored) figures.broken('P-1', `status of ${id} is ${String(codes[i])}, stored is ${stored}`)
    }
  }
}
