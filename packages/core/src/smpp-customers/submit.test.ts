import type { AccountId } from '../accounts/account.ts'
import { createGateway, createProcessing, gatewayDefaults, processingDefaults } from '@gateway/core'
import { AnswerDeadline, OUTCOME, type MessageId } from '@gateway/core/messages'
import {
  aNumber,
  aSender,
  aCredential,
  aProcess,
  anAccount,
  memoryPorts,
  realClock,
  steppingClock,
  type AccountOptions,
} from '@gateway/core/testing'
import { instant } from '@gateway/core/time'
import type { SmppSettings } from './smpp-credential.ts'
import type { SubmittedPart } from './submit-part.ts'

const number = '27820000001'

async function setUp(options: AccountOptions = {}, settings: Partial<SmppSettings> = {}, clock = realClock()) {
  const ports = memoryPorts({ clock })
  const gateway = createGateway(ports)
  const account = await anAccount(ports, options)
  const credential = await aCredential(ports, account, settings)
  const session = { account, credential }
  const smpp = { credential: credential.id, receipts: 1 }
  const submit = (text: string, reference?: number, deadline?: AnswerDeadline) =>
    gateway.commands.submitOverSmpp(session, { text, recipients: [number], options: { smpp }, reference }, deadline)
  const submitPart = (part: number, text: string, changes: Partial<SubmittedPart> = {}, by = gateway) =>
    by.commands.submitPart(session, {
      ...{ number, reference: '8:1', total: 2, part, sender: undefined, scheduled: undefined, options: { smpp } },
      coded: { coding: 'gsm-7', octets: Buffer.from(text).toString('hex') },
      ...changes,
    })
  const codes = async (ids: readonly MessageId[]) =>
    (await gateway.queries.queryStatus(account, ids)).map((status) => typeof status === 'object' && status.code)
  return { ports, gateway, processing: createProcessing(ports), account, session, submit, submitPart, codes }
}

type World = Awaited<ReturnType<typeof setUp>>

const accepted = (result: Awaited<ReturnType<World['submitPart']>>) => {
  if (typeof result === 'string' || !('id' in result)) throw new Error(JSON.stringify(result))
  return result
}

const idsIn = (result: Awaited<ReturnType<World['submit']>>) => {
  if (typeof result === 'string' || 'overLimitSeconds' in result) throw new Error(JSON.stringify(result))
  return result.flat().map((recipient) => ('id' in recipient ? recipient.id : recipient.refused))
}

describe('a submission', () => {
  test('after a missed deadline is not accepted, and costs nothing', async () => {
    const { submit, gateway, account } = await setUp()
    const deadline = new AnswerDeadline()
    deadline.miss()
    expect(await submit('hi', undefined, deadline)).toBe('overloaded')
    expect(await gateway.queries.creditBalance(account.id)).toBe(1000)
  })

  test.each([true, false])(
    'with a repeated reference is a repetition if the credential is idempotent: %s',
    async (is) => {
      const { submit } = await setUp({}, { isIdempotent: is })
      const [first] = idsIn(await submit('hi', 7))
      const again = [idsIn(await submit('hi', 7)), idsIn(await submit('other', 7)), idsIn(await submit('hi', 8))]
      expect(again.map(([id]) => id === first)).toEqual([is, false, false])
      expect(idsIn(await submit('hi'))[0]).not.toBe(first)
    },
  )

  test('with a repeated reference is another message after 24 hours', async () => {
    const clock = steppingClock()
    const { submit } = await setUp({}, { isIdempotent: true }, clock)
    const [first] = idsIn(await submit('hi', 7))
    clock.step(24 * 3600 - 1)
    expect(idsIn(await submit('hi', 7))).toEqual([first])
    clock.step(1)
    expect(idsIn(await submit('hi', 7))).not.toEqual([first])
  })
})

test('receipts are offered for 72 hours by default, or for the hours of the setting', async () => {
  const clock = steppingClock()
  const { submitPart, ports, processing } = await setUp({}, {}, clock)
  accepted(await submitPart(1, 'a'))
  clock.step(301)
  await processing.expireParts()
  const waiting = async () => (await ports.smppDeliveries.waiting(undefined)).receipts
  clock.step(72 * 3600)
  await processing.dropDeliveries()
  expect(await waiting()).toBe(1)
  await createProcessing(ports, { ...processingDefaults, smppDeliveryHours: 73 }).dropDeliveries()
  expect(await waiting()).toBe(1)
  clock.step(1)
  await processing.dropDeliveries()
  expect(await waiting()).toBe(0)
})

describe('parts', () => {
  test('are joined to one message under the id of the first, also with an escape pair over the border', async () => {
    const { submitPart, ports, account, codes, gateway } = await setUp()
    const second = accepted(await submitPart(2, 'e now'))
    expect(await second.joining).toBe('incomplete')
    const first = accepted(await submitPart(1, 'pay 5 \u001b'))
    expect(await first.joining).toBe('joined')
    expect(await codes([first.id, second.id])).toEqual(['waiting', 'waiting'])
    const sent = await ports.sentMessages.find(account.id, second.id)
    expect([sent?.id, sent?.text]).toEqual([first.id, 'pay 5 € now'])
    expect(await gateway.queries.creditBalance(account.id)).toBe(990)
  })

  test('with a repeated user_message_reference have their first ids, also after the join, if it is idempotent', async () => {
    const { submitPart, gateway, account } = await setUp({}, { isIdempotent: true })
    const texts = ['a', 'b'].map((text, at) => [at + 1, text] as const)
    const submitAll = async (messageReference: number) => {
      const results = []
      for (const [place, text] of texts) {
        const result = accepted(await submitPart(place, text, { messageReference }))
        results.push([result.id, await result.joining] as const)
      }
      return results
    }
    const first = await submitAll(7)
    expect(first.map(([, joined]) => joined)).toEqual(['incomplete', 'joined'])
    expect(await submitAll(7)).toEqual(first.map(([id]) => [id, 'repeated']))
    expect(await gateway.queries.creditBalance(account.id)).toBe(990)
    expect((await submitAll(8)).map(([, joined]) => joined)).toEqual(['incomplete', 'joined'])
    expect(await gateway.queries.creditBalance(account.id)).toBe(980)
  })

  test.each<[string, AccountOptions, number]>([
    ['without credits', { credits: 5 }, OUTCOME.insufficientCredits],
    ['to an own number of a trial account', { trial: { ownNumber: aNumber(number) } }, OUTCOME.failed],
  ])('%s are refused at the join at no cost', async (_, options, code) => {
    const { submitPart, codes } = await setUp(options)
    const first = accepted(await submitPart(1, 'a'))
    const second = accepted(await submitPart(2, 'b'))
    expect(await second.joining).toBe('refused')
    expect(await codes([first.id, second.id])).toEqual([code, code])
  })

  test('of a text that is too long end with 211, of a blacklisted number with 214', async () => {
    const { submitPart, codes, ports } = await setUp()
    const long = [accepted(await submitPart(1, 'a'.repeat(500))), accepted(await submitPart(2, 'b'.repeat(500)))]
    expect(await long[1]?.joining).toBe('refused')
    expect(await codes(long.map(({ id }) => id))).toEqual([OUTCOME.tooLong, OUTCOME.tooLong])
    await ports.suppressions.add({ scope: 'everybody', number: aNumber(number), kind: 'blacklist', since: instant(0) })
    const blocked = [accepted(await submitPart(1, 'a')), accepted(await submitPart(2, 'b'))]
    expect(await blocked[1]?.joining).toBe('refused')
    expect(await codes(blocked.map(({ id }) => id))).toEqual([OUTCOME.blacklisted, OUTCOME.blacklisted])
  })

  test('of a locked account, with a wrong number or a foreign sender are refused before they are stored', async () => {
    const { submitPart, ports, account } = await setUp()
    const locked = await setUp({ locked: true })
    expect(await locked.submitPart(1, 'a')).toBe('account-locked')
    expect(await submitPart(1, 'a', { number: '0820000001' })).toBe('invalid-number')
    expect(await submitPart(1, 'a', { sender: aSender() })).toBe('invalid-sender')
    expect(await ports.smppParts.waiting(account.id)).toBe(0)
  })

  test('that never become whole expire five minutes after the latest one, with a receipt for each, at no cost', async () => {
    const clock = steppingClock()
    const { submitPart, ports, processing, codes, account, gateway, session } = await setUp({}, {}, clock)
    const first = accepted(await submitPart(1, 'a', { total: 3 }))
    clock.step(200)
    const second = accepted(await submitPart(2, 'b', { total: 3 }))
    clock.step(299)
    await processing.expireParts()
    expect(await codes([first.id, second.id])).toEqual(['waiting', 'waiting'])
    clock.step(1)
    await processing.expireParts()
    expect(await codes([first.id, second.id])).toEqual([OUTCOME.expired, OUTCOME.expired])
    expect(await gateway.queries.creditBalance(account.id)).toBe(1000)
    const process = aProcess()
    const receivers = [{ account: account.id, credential: session.credential.id, room: 10 }]
    const receipts = await ports.smppDeliveries.claim({ process, receivers, leaseSeconds: 60 })
    expect(receipts).toMatchObject([
      { kind: 'receipt', message: first.id, code: OUTCOME.expired },
      { kind: 'receipt', message: second.id, code: OUTCOME.expired },
    ])
  })

  test('are refused beyond the maximum of waiting ones of the account', async () => {
    const { submitPart, ports } = await setUp()
    const strict = createGateway(ports, { ...gatewayDefaults, waitingPartsMax: 2 })
    const add = (part: number) => submitPart(part, 'a', { total: 9 }, strict)
    for (const part of [1, 2]) accepted(await add(part))
    expect(await add(3)).toBe('too-many-parts')
    expect(accepted(await add(2)).id).toBe(accepted(await add(2)).id)
  })

  test('that were stored but not joined by their process are joined by the processing', async () => {
    const clock = steppingClock()
    const { submitPart, ports, processing, codes, account, gateway } = await setUp({}, {}, clock)
    const first = accepted(await submitPart(1, 'a'))
    const { senders } = ports
    const allowedTo = failOnSecondCall((of: AccountId) => senders.allowedTo(of))
    const killed = createGateway({ ...ports, senders: { ...senders, allowedTo } })
    const second = await submitPart(2, 'b', {}, killed)
    await expect(accepted(second).joining).rejects.toThrow('killed')
    expect(await gateway.queries.creditBalance(account.id)).toBe(1000)
    clock.step(10)
    expect(await processing.joinParts()).toBe('all')
    expect(await gateway.queries.creditBalance(account.id)).toBe(990)
    expect(await codes([first.id])).toEqual(['waiting'])
  })
})

/** Returns the function, which fails from its second call on. */
function failOnSecondCall<Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) {
  let calls = 0
  return (...args: Args): Promise<Result> =>
    ++calls === 1 ? call(...args) : Promise.reject(new Error('the process was killed'))
}
