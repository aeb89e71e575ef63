import { setTimeout as wait } from 'node:timers/promises'
import { createGateway } from '@gateway/core'
import type { IdempotencyKey } from '@gateway/core/client-requests'
import type { CarrierId } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { anAccount, memoryPorts, testChance } from '@gateway/core/testing'
import { freshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { postgresPorts } from '../postgres-ports.ts'

const accountsMany = 40
const carrier = 'one' as CarrierId

test('a message that is changed at its due time is sent once, in one of its versions, and paid once', async () => {
  const database = await freshDatabase()
  const { ports, clock, close } = postgresPorts({
    connectionString: database.connectionString,
    settings: patientSettings,
  })
  const gateway = createGateway({ ...memoryPorts(), ...ports, clock })
  const accounts = await Promise.all(Array.from({ length: accountsMany }, () => anAccount(ports, { credits: 100 })))
  const dispatcher = await ports.claimedBatches.register(600)
  const claimed: MessageId[] = []
  let isOver = false
  async function dispatch(): Promise<void> {
    const request = { carrier, lane: 'single' as const, messagesMax: 100, markedMax: 1000, leaseSeconds: 60 }
    while (!isOver) {
      await ports.claimedBatches.promote(100)
      const batch = await ports.claimedBatches.claim(dispatcher, request)
      if (typeof batch === 'object') claimed.push(...batch.messages.map(({ id }) => id))
    }
  }

  const dispatching = dispatch()
  const outcomes = await Promise.all(
    accounts.map(async (account, i) => {
      const due = secondsAfter(clock.now(), 1)
      const recipients = [{ number: String(27820000000 + i) }]
      const sent = await gateway.commands.sendMessages(account, [{ text: 'Hello', recipients, scheduled: due }])
      const [first] = typeof sent === 'object' && 'flat' in sent ? sent.flat() : []
      if (first === undefined || !('id' in first)) throw new Error('it was not accepted')
      // Some changes happen before the due time, some after.
      await wait(Math.max(0, due - clock.now()) + testChance().between(-200, 200))
      const change = { text: 'Changed', due: secondsAfter(due, 3600) }
      const key = 'a' as IdempotencyKey
      const changed = await gateway.commands.changeScheduled(account, first.id, change, key)
      return { account, id: first.id, changed }
    }),
  )
  isOver = true
  await dispatching
  for (const { account, id, changed } of outcomes) {
    const { items } = await gateway.queries.listScheduled(account, { offset: 0, limit: 10 })
    const isChanged = changed.outcome === 'changed'
    expect([changed.outcome, items.length, claimed.includes(id)]).toEqual(
      isChanged ? ['changed', 1, false] : ['sent', 0, true],
    )
    expect(await gateway.queries.creditBalance(account.id)).toBe(90)
  }
  expect((await ports.ledger.check()).differences).toEqual([])
  await close()
  await database.drop()
})
