import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  appendFileSync,
  mkdirSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Carrier, DeliveryReceipt, SubmissionAnswer } from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { OUTCOME, type SenderAddress } from '@gateway/core/messages'
import { carrierContract } from '@gateway/core/contracts'
import { aMessageId, aBody, anAddress, aNumber, until } from '@gateway/core/testing'
import { simulatedCarrier, type SimulatedCarrierSettings } from './simulated-carrier.ts'

const never = new Promise<never>(() => undefined)
const folders: string[] = []
const carriers: Carrier[] = []

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'))
  folders.push(folder)
  return folder
}

afterEach(async () => {
  await Promise.all(carriers.splice(0).map((carrier) => carrier.close(Promise.resolve())))
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

/** Starts a carrier and collects its answers. `take` may refuse receipts, and `takeReplies` replies. */
function start(
  folder: string,
  settings: Partial<SimulatedCarrierSettings> = {},
  take: (receipts: readonly DeliveryReceipt[]) => Promise<void> = () => Promise.resolve(),
  takeReplies: (inboundMessages: readonly InboundMessage[]) => Promise<void> = () => Promise.resolve(),
) {
  const carrier = simulatedCarrier({ folder, delayMilliseconds: 0, ...settings })
  carriers.push(carrier)
  /** Answers and accepted receipts, in their order. */
  const events: (SubmissionAnswer | DeliveryReceipt)[] = []
  const inboundMessages: InboundMessage[] = []
  carrier.listen({
    receipts: async (receipts) => {
      await take(receipts)
      events.push(...receipts)
      return []
    },
    inboundMessages: async (some) => {
      await takeReplies(some)
      inboundMessages.push(...some)
    },
  })
  return {
    carrier,
    events,
    inboundMessages,
    answers: () => events.filter((event) => 'outcome' in event),
    receipts: () => events.filter((event) => 'code' in event),
    submit: (...messages: readonly (readonly [id: number, ending: string, from?: SenderAddress | null])[]) =>
      new Promise<readonly SubmissionAnswer[]>((resolve) => {
        const all: SubmissionAnswer[] = []
        const submissions = messages.map(([id, ending, from = anAddress()]) => ({
          id: aMessageId(id),
          from: from ?? undefined,
          to: numberTo(ending),
          body: aBody(),
        }))
        carrier.submit(submissions, (answers) => {
          events.push(...answers)
          all.push(...answers)
          if (all.length === messages.length) resolve(all)
        })
      }),
  }
}

const numberTo = (ending: string) => aNumber(`278255501${ending}`)

function linesOf(folder: string, name = 'submissions'): readonly string[] {
  const path = join(folder, `${name}.jsonl`)
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []
}

const recordOf = (folder: string) =>
  linesOf(folder).map(
    (line) =>
      JSON.parse(line) as Record<
        'time' | 'messageId' | 'from' | 'number' | 'carrierId' | 'answer' | 'replies',
        unknown
      >,
  )

/** Makes every process that uses the folder appear to be killed. */
function killOwners(folder: string): void {
  const owners = join(folder, 'owners')
  for (const name of readdirSync(owners))
    renameSync(join(owners, name), join(owners, `${name.split('.')[0]}.4194999-1`))
}

const hours = 3_600_000

describe('the contract of the port Carrier', () => {
  test.each(Object.entries(carrierContract))('%s', async (_, check) => {
    await check(simulatedCarrier({ folder: await aFolder(), delayMilliseconds: 0 }))
  })
})

describe('the last two digits of a number decide its outcome', () => {
  const { delivered, undeliverable, expired, rejected } = OUTCOME
  test.each<[ending: string, answer: string, receipts: readonly number[]]>([
    ['90', 'accepted', [undeliverable]],
    ['91', 'accepted', [expired]],
    ['92', 'accepted', [rejected]],
    ['93', 'refused', []],
    ['94', 'accepted', []],
    ['95', 'unknown', []],
    ['96', 'refused-for-now', []],
    ['97', 'accepted', [delivered]],
    ['98', 'accepted', [delivered, undeliverable]],
    ['00', 'accepted', [delivered]],
    ['99', 'accepted', [delivered]],
    ['87', 'accepted', [delivered]],
  ])('%s: %s, then %j', async (ending, outcome, codes) => {
    const folder = await aFolder()
    const { submit, receipts, answers } = start(folder)
    const [answer] = await submit([1, ending])
    await submit([2, '00'])
    const own = () => receipts().filter(({ number }) => number === numberTo(ending))
    await until(() => receipts().length >= codes.length + (ending === '00' ? 0 : 1))
    expect(answer).toMatchObject({ id: 1, outcome })
    expect(
      own()
        .slice(0, codes.length || 1)
        .map(({ code }) => code),
    ).toEqual(codes)
    expect(answers()).toHaveLength(2)
    const reference = answer?.outcome === 'accepted' ? answer.reference : null
    expect(recordOf(folder)[0]).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      messageId: 1,
      from: anAddress(),
      number: numberTo(ending),
      carrierId: reference,
      answer: outcome,
    })
  })

  test('96: each message is refused for now twice, then accepted and delivered', async () => {
    const { submit, receipts } = start(await aFolder())
    const outcomes = async (id: number) => (await submit([id, '96'])).map(({ outcome }) => outcome)
    expect(await outcomes(1)).toEqual(['refused-for-now'])
    expect(await outcomes(2)).toEqual(['refused-for-now'])
    expect(await outcomes(1)).toEqual(['refused-for-now'])
    expect(await outcomes(1)).toEqual(['accepted'])
    expect(await outcomes(2)).toEqual(['refused-for-now'])
    expect(await outcomes(2)).toEqual(['accepted'])
    await until(() => receipts().length === 2)
  })

  test('96: refusals by other processes and before a kill count', async () => {
    const folder = await aFolder()
    const [one, other] = [start(folder), start(folder)]
    expect(await one.submit([1, '96'], [2, '96'], [3, '00'])).toMatchObject([
      { outcome: 'refused-for-now' },
      { outcome: 'refused-for-now' },
      { outcome: 'accepted' },
    ])
    expect(await other.submit([1, '96'])).toMatchObject([{ outcome: 'refused-for-now' }])
    expect(await one.submit([1, '96'])).toMatchObject([{ outcome: 'accepted' }])
    killOwners(folder)
    const next = start(folder)
    expect(await next.submit([2, '96'])).toMatchObject([{ outcome: 'refused-for-now' }])
    expect(await next.submit([2, '96'])).toMatchObject([{ outcome: 'accepted' }])
  })

  test('97: the receipt is sent before the answer, and the answer follows even if the receipt is refused', async () => {
    const { submit, events } = start(await aFolder())
    await submit([1, '97'], [2, '97'])
    expect(events.map((event) => ('code' in event ? 'receipt' : 'answer'))).toEqual([
      'receipt',
      'receipt',
      'answer',
      'answer',
    ])
    let refusals = 0
    const refusing = start(await aFolder(), {}, () => {
      return refusals++ === 0 ? Promise.reject(new Error('no')) : Promise.resolve()
    })
    expect(await refusing.submit([1, '97'])).toMatchObject([{ outcome: 'accepted' }])
    await until(() => refusing.receipts().length === 1)
    const hanging = start(await aFolder(), {}, () => never)
    expect(await hanging.submit([1, '97'])).toMatchObject([{ outcome: 'accepted' }])
  })

  test('98: the second receipt is sent only after the first was acknowledged', async () => {
    const calls: number[] = []
    const { submit, receipts } = start(await aFolder(), {}, (some) => {
      calls.push(...some.map(({ code }) => code))
      return calls.length === 1 ? Promise.reject(new Error('no')) : Promise.resolve()
    })
    await submit([1, '98'])
    await until(() => receipts().length === 2)
    expect(calls).toEqual([OUTCOME.delivered, OUTCOME.delivered, OUTCOME.undeliverable])
    expect(new Set(receipts().map(({ reference }) => reference)).size).toBe(1)
  })
})

describe('replies of people', () => {
  const other = anAddress('12025550101')

  test.each([
    ['88', 'Yes, thank you'],
    ['89', 'STOP'],
  ])('%s answers %s to the address the message left from, after its receipt was acknowledged', async (ending, text) => {
    const folder = await aFolder()
    let refusals = 0
    const { submit, inboundMessages, receipts } = start(folder, {}, () =>
      refusals++ === 0 ? Promise.reject(new Error('no')) : Promise.resolve(),
    )
    const [answer] = await submit([1, ending])
    await until(() => inboundMessages.length === 1)
    expect(receipts().map(({ code }) => code)).toEqual([OUTCOME.delivered])
    const [line] = recordOf(folder)
    expect(line).toMatchObject({ from: anAddress(), number: numberTo(ending), replies: expect.any(String) as string })
    expect(inboundMessages[0]).toEqual({
      carrier: 'simulator',
      from: numberTo(ending),
      to: anAddress(),
      text,
      sent: Date.parse(String(line?.replies)),
      reference: `${answer?.outcome === 'accepted' ? answer.reference : ''}-reply`,
      offer: undefined,
      part: undefined,
    })
  })

  test('the reply is sent the configured delay after the receipt', async () => {
    const times = { receipt: NaN, answer: NaN }
    const note = (event: keyof typeof times) => () => {
      times[event] = performance.now()
      return Promise.resolve()
    }
    const { submit, inboundMessages } = start(
      await aFolder(),
      { delayMilliseconds: 100 },
      note('receipt'),
      note('answer'),
    )
    await submit([1, '88'])
    await until(() => inboundMessages.length === 1)
    expect(times.answer - times.receipt).toBeGreaterThanOrEqual(80)
  })

  test('the reply to a message without a sender has no recipient', async () => {
    const folder = await aFolder()
    const { submit, inboundMessages } = start(folder)
    await submit([1, '88', null])
    await until(() => inboundMessages.length === 1)
    expect(inboundMessages[0]?.to).toBeUndefined()
    expect(recordOf(folder)[0]?.from).toBeNull()
  })

  test('a number does not reply to the same sender again within seconds, in the same call, later or in another process', async () => {
    const folder = await aFolder()
    const { submit, inboundMessages, receipts } = start(folder)
    const second = start(folder)
    await submit([1, '89'], [2, '89'], [3, '89', other], [4, '88'])
    await until(() => inboundMessages.length === 3)
    await submit([5, '89'])
    await second.submit([6, '89'], [7, '88', null])
    await until(() => second.inboundMessages.length === 1 && receipts().length === 5 && second.receipts().length === 2)
    expect(inboundMessages.map(({ to, text }) => [to, text])).toEqual([
      [anAddress(), 'STOP'],
      [other, 'STOP'],
      [anAddress(), 'Yes, thank you'],
    ])
    expect(second.inboundMessages[0]).toMatchObject({ to: undefined, text: 'Yes, thank you' })
    expect(recordOf(folder).flatMap(({ messageId, replies }) => (replies === undefined ? [] : [messageId]))).toEqual([
      1, 3, 4, 7,
    ])
    expect(new Set([...inboundMessages, ...second.inboundMessages].map(({ reference }) => reference)).size).toBe(4)
  })

  test('a number that replied before a kill does not reply to the same sender again at once', async () => {
    const folder = await aFolder()
    const killed = start(folder)
    await killed.submit([1, '89'])
    await until(() => linesOf(folder, 'receipts').length === 2)
    killOwners(folder)
    const next = start(folder)
    await next.submit([2, '89'], [3, '89', other])
    await until(() => next.inboundMessages.length === 1)
    expect(next.inboundMessages[0]?.to).toBe(other)
  })

  test('after ten seconds the number replies again', async () => {
    const folder = await aFolder()
    const { submit, inboundMessages } = start(folder)
    await submit([1, '89'])
    await until(() => linesOf(folder, 'receipts').length === 2)
    const line = linesOf(folder)[0] ?? ''
    killOwners(folder)
    const past = new Date(Date.now() - 10_001).toISOString()
    writeFileSync(join(folder, 'submissions.jsonl'), `${line.replace(/"replies":"[^"]*"/, `"replies":"${past}"`)}\n`)
    const next = start(folder)
    await next.submit([2, '89'])
    await until(() => next.inboundMessages.length === 1)
    expect(inboundMessages).toHaveLength(1)
  })

  test('a refused reply is offered again unchanged until it is accepted, and receipts do not wait for it', async () => {
    const offered: (string | undefined)[] = []
    const { submit, inboundMessages, receipts } = start(
      await aFolder(),
      {},
      () => Promise.resolve(),
      (some) => {
        offered.push(...some.map(({ reference }) => reference))
        return offered.length < 2 ? Promise.reject(new Error('the store is away')) : Promise.resolve()
      },
    )
    await submit([1, '88'])
    await until(() => offered.length === 1)
    await submit([2, '00'])
    await until(() => receipts().length === 2)
    expect(inboundMessages).toEqual([])
    await until(() => inboundMessages.length === 1)
    expect(new Set(offered).size).toBe(1)
  })

  test('a reply not acknowledged before a kill is offered once by the next process, with the same reference', async () => {
    const folder = await aFolder()
    const offered: InboundMessage[] = []
    const killed = start(
      folder,
      {},
      () => Promise.resolve(),
      (some) => {
        offered.push(...some)
        return never
      },
    )
    await killed.submit([1, '88'], [2, '89'], [3, '88'])
    await until(() => offered.length === 2)
    killOwners(folder)
    const after = start(folder)
    await until(() => after.inboundMessages.length === 2)
    expect(after.inboundMessages).toEqual(offered)
    expect(after.receipts()).toEqual([])
    await until(() => linesOf(folder, 'receipts').length === 5)
    await after.carrier.close(never)
    const later = start(folder)
    await later.submit([4, '93'])
    expect(later.inboundMessages).toEqual([])
  })

  test('an acknowledged reply is in the record', async () => {
    const folder = await aFolder()
    await start(folder).submit([1, '88'])
    await until(() => linesOf(folder, 'receipts').length === 2)
    const carrierId = recordOf(folder)[0]?.carrierId
    expect(linesOf(folder, 'receipts').map((line) => JSON.parse(line) as unknown)).toEqual([
      { time: expect.any(String) as string, carrierId, code: 0 },
      { time: expect.any(String) as string, carrierId, code: null },
    ])
  })
})

describe('the record', () => {
  test('is written before the answer, and contains acknowledged receipts', async () => {
    const folder = await aFolder()
    const { carrier, receipts } = start(folder)
    const seen = await new Promise<number>((resolve) => {
      carrier.submit([{ id: aMessageId(7), from: anAddress(), to: numberTo('00'), body: aBody() }], () =>
        resolve(recordOf(folder).length),
      )
    })
    expect(seen).toBe(1)
    await until(() => receipts().length === 1 && linesOf(folder, 'receipts').length === 1)
    expect(JSON.parse(linesOf(folder, 'receipts')[0] ?? '')).toEqual({
      time: expect.any(String) as string,
      carrierId: recordOf(folder)[0]?.carrierId,
      code: 0,
    })
  })

  test('outstanding receipts, and only those, are sent after a kill', async () => {
    const folder = await aFolder()
    const before = start(folder)
    await before.submit([1, '00'], [2, '01'])
    await until(() => linesOf(folder, 'receipts').length === 2)
    const killed = start(folder, { delayMilliseconds: hours })
    const answers = await killed.submit([3, '00'], [4, '90'], [5, '93'], [6, '94'], [7, '95'], [8, '96'], [9, '98'])
    killOwners(folder)

    const after = start(folder)
    await until(() => after.receipts().length === 4)
    await after.submit([10, '93'])
    const referenceOf = (id: number) =>
      answers.map((a) => (a.id === id && a.outcome === 'accepted' ? a.reference : '')).join('')
    expect(
      after
        .receipts()
        .map(({ reference, code, number }) => [reference, code, number])
        .toSorted(),
    ).toEqual(
      [
        [referenceOf(3), 0, numberTo('00')],
        [referenceOf(4), 103, numberTo('90')],
        [referenceOf(9), 0, numberTo('98')],
        [referenceOf(9), 103, numberTo('98')],
      ].toSorted(),
    )
    expect(after.receipts()[0]?.submitted).toBe(Date.parse(String(recordOf(folder)[2]?.time)))
    await after.carrier.close(never)
    const later = start(folder)
    await later.submit([11, '93'])
    expect(later.receipts()).toEqual([])
  })

  test('of two receipts, one acknowledged before a kill is not sent again, and the other one is', async () => {
    const folder = await aFolder()
    const killed = start(folder, {}, (some) => (some.some(({ code }) => code === 103) ? never : Promise.resolve()))
    await killed.submit([1, '98'])
    await until(() => killed.receipts().length === 1)
    killOwners(folder)
    const after = start(folder)
    await until(() => after.receipts().length === 1)
    expect(after.receipts()[0]?.code).toBe(103)
  })

  test('a living process keeps its outstanding receipts, and those of a closed process are taken over', async () => {
    const folder = await aFolder()
    const living = start(folder, { delayMilliseconds: hours })
    await living.submit([1, '00'])
    const other = start(folder)
    await other.submit([2, '93'])
    expect(other.receipts()).toEqual([])
    await living.carrier.close(never)
    const next = start(folder)
    await until(() => next.receipts().length === 1)
  })

  test('of several processes that start after a kill, one sends the outstanding receipts', async () => {
    const folder = await aFolder()
    await start(folder, { delayMilliseconds: hours }).submit([1, '00'], [2, '00'], [3, '00'])
    killOwners(folder)
    const all = Array.from({ length: 5 }, () => start(folder))
    await Promise.all(all.map(({ submit }, i) => submit([10 + i, '93'])))
    await until(() => all.flatMap(({ receipts }) => receipts()).length >= 3)
    expect(all.flatMap(({ receipts }) => receipts())).toHaveLength(3)
  })

  test('a line torn by a kill is ignored, and lines after it are read', async () => {
    const folder = await aFolder()
    const path = join(folder, 'submissions.jsonl')
    await start(folder, { delayMilliseconds: hours }).submit([1, '00'], [2, '00'])
    killOwners(folder)
    const whole = readFileSync(path).length
    truncateSync(path, whole - 9)
    const after = start(folder, { delayMilliseconds: hours })
    await after.submit([3, '00'])
    // Another process was killed while writing, and a third one appended after its torn line.
    appendFileSync(path, '{"time":"2026-10-18T08:00:00.000Z","messageId":4,"num')
    await after.submit([5, '00'])
    const lines = linesOf(folder)
    appendFileSync(
      path,
      `{"time":"2026-10-18T08:00:00.000Z","mess${lines.at(-1)?.replace('"messageId":5', '"messageId":6')}\n`,
    )
    killOwners(folder)
    const last = start(folder)
    await until(() => last.receipts().length >= 3 && after.receipts().length >= 1)
    await last.submit([7, '93'])
    expect(lines.map((line) => /"messageId":(\d+).*}$/.exec(line)?.[1])).toEqual(['1', undefined, '3', undefined, '5'])
    expect(after.receipts()).toHaveLength(1) // of message 1
    expect(last.receipts()).toHaveLength(3) // of messages 3 and 5 and the copy of 5
  })

  test('ids of the carrier are unique across restarts and processes', async () => {
    const folder = await aFolder()
    const references = new Set<unknown>()
    for (let life = 0; life < 3; life++) {
      const pair = [start(folder), start(folder)]
      await Promise.all(
        pair.map(({ submit }) => submit(...Array.from({ length: 50 }, (_, i) => [i + 1, '94'] as const))),
      )
      killOwners(folder)
    }
    for (const { carrierId } of recordOf(folder)) references.add(carrierId)
    expect(references.size).toBe(300)
  })

  test('lines of several writers are never mixed', async () => {
    const folder = await aFolder()
    const all = Array.from({ length: 4 }, () => start(folder))
    await Promise.all(
      all.map(async ({ submit }, sender) => {
        for (let round = 0; round < 20; round++) {
          await submit(...Array.from({ length: 200 }, (_, i) => [sender * 10_000 + round * 200 + i + 1, '94'] as const))
        }
      }),
    )
    expect(new Set(recordOf(folder).map(({ messageId }) => messageId)).size).toBe(4 * 20 * 200)
  })
})

test('a refused receipt is offered again until it is acknowledged, and others do not wait for it', async () => {
  const folder = await aFolder()
  let refusals = 0
  const { submit, receipts } = start(folder, {}, (some) =>
    some.some(({ code }) => code === 103) && refusals++ < 2
      ? Promise.reject(new Error('the store is away'))
      : Promise.resolve(),
  )
  await submit([1, '90'])
  await submit([2, '00'])
  await until(() => receipts().length === 1)
  expect(receipts()[0]?.code).toBe(0)
  await until(() => receipts().length === 2)
  expect(refusals).toBe(3)
})

test('the receipt is sent after the delay, not before', async () => {
  const { submit, receipts } = start(await aFolder(), { delayMilliseconds: 150 })
  const began = performance.now()
  await submit([1, '00'])
  await until(() => receipts().length === 1)
  expect(performance.now() - began).toBeGreaterThanOrEqual(150)
})

test('a rate limit bounds the answers per second', async () => {
  const { submit, answers } = start(await aFolder(), { perSecond: 1000 })
  const began = performance.now()
  await submit(...Array.from({ length: 300 }, (_, i) => [i + 1, '94'] as const))
  expect(performance.now() - began).toBeGreaterThanOrEqual(190)
  expect(answers()).toHaveLength(300)
})

test('closing answers all submissions; later ones are refused for now and not recorded', async () => {
  const folder = await aFolder()
  const { submit, carrier } = start(folder)
  const last = submit([1, '00'], [2, '95'])
  await carrier.close(never)
  expect((await last).map(({ outcome }) => outcome)).toEqual(['accepted', 'unknown'])
  expect(await submit([3, '00'])).toEqual([{ id: 3, outcome: 'refused-for-now' }])
  expect(recordOf(folder)).toHaveLength(2)
})

test('submissions not accepted at the deadline of closing are refused for now', async () => {
  const folder = await aFolder()
  const { submit, carrier } = start(folder, { perSecond: 10 })
  const answers = submit([1, '94'], [2, '94'], [3, '94'])
  await until(() => linesOf(folder).length === 1)
  await carrier.close(Promise.resolve())
  expect((await answers).map(({ outcome }) => outcome)).toEqual(['accepted', 'refused-for-now', 'refused-for-now'])
  expect(recordOf(folder)).toHaveLength(1)
})

test('closing waits for a hanging receipt handler only until the deadline, and the receipt stays outstanding', async () => {
  const folder = await aFolder()
  const { submit, carrier } = start(folder, {}, () => never)
  await submit([1, '00'])
  await carrier.close(new Promise((resolve) => setImmediate(resolve)))
  const next = start(folder)
  await until(() => next.receipts().length === 1)
})

test('while the record cannot be written, messages are refused for now and the failure is reported; then work resumes', async () => {
  const folder = await aFolder()
  mkdirSync(join(folder, 'submissions.jsonl'))
  const problems: unknown[] = []
  const { submit } = start(folder, { report: (problem) => problems.push(problem) })
  expect(await submit([1, '00'])).toEqual([{ id: 1, outcome: 'refused-for-now' }])
  expect(problems).not.toHaveLength(0)
  rmSync(join(folder, 'submissions.jsonl'), { recursive: true })
  expect(await submit([1, '00'])).toMatchObject([{ outcome: 'accepted' }])
})

test('a folder that cannot be used is rejected at once with an error that names it', async () => {
  const folder = join(await aFolder(), 'taken')
  writeFileSync(folder, '')
  expect(() => simulatedCarrier({ folder })).toThrow(`cannot keep its record in ${folder}`)
  expect(() => simulatedCarrier({ folder, id: 'Not A Name' })).toThrow('"Not A Name" is not a carrier name')
})
