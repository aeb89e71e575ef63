import type { Ports } from '@gateway/core'
import { createDispatcher } from '@gateway/core/dispatch'
import type { Msisdn } from '@gateway/core/messages'
import { anAccount, aNumber, numbers, scriptedCarrier, until } from '@gateway/core/testing'
import { anOperator, type Operator } from '../../testing/operate.ts'

const to = ['27825550101', '27825550102']
const send = (...more: readonly string[]) => ['send', '--account', '1', '--text', 'Hello', ...more]

test('each number is printed as accepted or refused, and charged like any other message', async () => {
  const operator = anOperator()
  await anAccount(operator.ports, { credits: 10 })
  await operator.run(['number', 'block', '27825550103', '--reason', 'blacklisted'])
  expect(await operator.json(...send('--to', `${to[0]},27825550103`, '--to', `+27;${to[1]}`))).toEqual({
    account: 1,
    recipients: [
      { number: '27825550101', message: 1, cost: 1, due: null },
      { number: '27825550103', refusal: 'blacklisted' },
      { number: '+27', refusal: 'invalid-number' },
      { number: '27825550102', refusal: 'insufficient-credits' },
    ],
  })
  expect(await operator.row('account', 'show', '1')).toMatchObject({ balance: 0 })
})

test('a person reads one line per number, with the reason of a refusal', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.run(send('--to', '27825550101,0825550102', '--at', '202612312359'))).toEqual({
    code: 0,
    out: [
      '27825550101: message 1, 1.0 credits, due 2026/12/31 23:59:00 (GMT+2)',
      '0825550102: refused, not a mobile number in international form, or no price for it',
      '',
    ].join('\n'),
    err: '',
  })
})

test('numbers as people and spreadsheets write them are accepted, and omitted digits are shown', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.run(send('--to', '+27 82 555 0101, 27825550102.0; 27825550103 27825550104,2.78E+10'))).toEqual({
    code: 0,
    out: [
      '27825550101: message 1, 1.0 credits',
      '27825550102: message 2, 1.0 credits',
      '27825550103: message 3, 1.0 credits',
      '27825550104: message 4, 1.0 credits',
      '2.78E+10: refused, not a mobile number in international form, or no price for it',
      '',
    ].join('\n'),
    err: '“27825550102.0” was read as 27825550102.\n',
  })
})

test('if no number was accepted the command fails, with the reasons as the result', async () => {
  const operator = anOperator()
  await anAccount(operator.ports, { locked: true })
  const { code, out, err } = await operator.run([...send('--to', '27825550101', '--wait'), '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({ account: 1, recipients: [{ number: '27825550101', refusal: 'account-locked' }] })
  expect(JSON.parse(err)).toEqual({ error: 'No number was accepted.' })
})

test('for an unknown account nothing is sent', async () => {
  expect(await anOperator().run(send('--to', '27825550101'))).toEqual({
    code: 1,
    out: '',
    err: 'There is no account 1.\n',
  })
})

test.each([
  [['--to', ','], 'Expected one or more numbers'],
  [['--to', '27825550101', '--at', '2026-12-31'], 'Expected a time CCYYMMDDHHmm at GMT+2'],
  [['--to', '27825550101', '--timeout', '0'], 'Expected a number of seconds from 1 to 86400'],
  [[], "'--to <numbers>' not specified"],
])('%j is a usage error', async (args, message) => {
  const { code, out, err } = await anOperator().run(send(...args))
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
})

/** Dispatches the waiting messages once a command has begun to watch them. */
async function carry(
  operator: Operator,
  outcomeOf: (to: Msisdn) => 0 | 100 | 103 | 'unknown',
  isWatched = () => operator.written().includes('WAITING'),
): Promise<void> {
  const carrier = scriptedCarrier({
    outcomeOf: ({ to }) => {
      const code = outcomeOf(to)
      return code === 100 ? 'accepted' : code
    },
  })
  const dispatcher = createDispatcher(operator.ports, carrier, (problem) => {
    throw problem
  })
  await until(isWatched)
  await dispatcher.work('single')
  await dispatcher.drain(Promise.resolve())
  await carrier.settled()
}

test('--wait prints each state of each message until all are final, then the number by state', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const sent = operator.run(send('--to', to.join(), '--wait'))
  await carry(operator, (number) => (number === to[0] ? 0 : 103))
  const { code, out, err } = await sent
  expect([code, err]).toEqual([0, ''])
  expect(out.split('\n').slice(0, 4)).toEqual([
    '27825550101: message 1, 1.0 credits',
    '27825550102: message 2, 1.0 credits',
    'message 1: WAITING -1 (not handed to a carrier yet)',
    'message 2: WAITING -1 (not handed to a carrier yet)',
  ])
  expect(out).toContain('\nmessage 1: DELIVERED 0 (delivered to the recipient)\n')
  expect(out).toContain('\nmessage 2: SENDINGFAILED 103 (could not be delivered)\n')
  expect(out).toMatch(
    /\n1 DELIVERED 0 \(delivered to the recipient\); 1 SENDINGFAILED 103 \(could not be delivered\)\n$/,
  )
})

test('--wait ends with 0 if an outcome is unknown (106), and says that a late receipt may still change it', async () => {
  for (const format of [[], ['--json']]) {
    let looked = 0
    const operator = anOperator({
      ports: (ports) => ({
        ...ports,
        messages: { ...ports.messages, status: (...args) => (looked++, ports.messages.status(...args)) },
      }),
    })
    await anAccount(operator.ports)
    const sent = operator.run([...send('--to', to.join(), '--wait'), ...format])
    await carry(
      operator,
      (number) => (number === to[0] ? 0 : 'unknown'),
      () => looked > 0,
    )
    const { code, out, err } = await sent
    expect(code).toBe(0)
    if (format.length === 0) {
      expect(out).toMatch(/\n1 DELIVERED 0 \(delivered to the recipient\); 1 SENT 106 \(outcome unknown\)\n$/)
      expect(err).toBe(
        'The outcome of 1 message is unknown (106). It may stay unknown, or a late receipt may still change it.\n',
      )
    } else {
      expect((JSON.parse(out) as { statuses: unknown }).statuses).toMatchObject([
        { message: 1, statusCode: 0, final: true },
        { message: 2, statusCode: 106, final: false },
      ])
      expect(err).toBe('')
    }
  }
})

test('--wait ends after its time with the states so far, and exit code 1', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const { code, out, err } = await operator.run([...send('--to', '27825550101', '--wait', '--timeout', '1'), '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    account: 1,
    recipients: [{ number: '27825550101', message: 1, cost: 1, due: null }],
    statuses: [
      {
        message: 1,
        status: 'WAITING',
        statusCode: -1,
        meaning: 'not handed to a carrier yet',
        final: false,
        since: null,
      },
    ],
  })
  expect(JSON.parse(err)).toEqual({
    error: 'Not all messages had ended within 1 s; the carrier may report the others later.',
  })
})

const waitingStatus = {
  status: 'WAITING',
  statusCode: -1,
  meaning: 'not handed to a carrier yet',
  final: false,
  since: null,
}

test('an interrupted --wait prints the accepted messages with the states so far', async () => {
  const looked = { times: 0 }
  const operator = anOperator({
    ports: (ports) => ({
      ...ports,
      messages: {
        ...ports.messages,
        status: (...args) => {
          looked.times++
          return ports.messages.status(...args)
        },
      },
    }),
  })
  await anAccount(operator.ports)
  const inJson = operator.run([...send('--to', '27825550101', '--wait'), '--json'])
  await until(() => looked.times > 1)
  operator.interrupt()
  const { out, err } = await inJson
  expect(JSON.parse(out)).toEqual({
    account: 1,
    recipients: [{ number: '27825550101', message: 1, cost: 1, due: null }],
    statuses: [{ message: 1, ...waitingStatus }],
    interrupted: true,
  })
  expect(JSON.parse(err)).toEqual({ error: 'Interrupted.' })

  const inText = operator.run(send('--to', '27825550101', '--wait'))
  await until(() => operator.written().includes('WAITING'))
  operator.interrupt()
  expect(await inText).toMatchObject({
    out: [
      '27825550101: message 2, 1.0 credits',
      'message 2: WAITING -1 (not handed to a carrier yet)',
      'Interrupted; so far: 1 WAITING -1 (not handed to a carrier yet)',
      '',
    ].join('\n'),
    err: 'Interrupted.\n',
  })
})

test('if the query of states is interrupted, the accepted messages are still printed', async () => {
  const operator = anOperator({
    ports: (ports) => ({
      ...ports,
      messages: {
        ...ports.messages,
        status: () => {
          operator.interrupt()
          return Promise.reject(new Error('the connections were closed'))
        },
      },
    }),
  })
  await anAccount(operator.ports)
  const { out, err } = await operator.run([...send('--to', '27825550101', '--wait'), '--json'])
  expect(JSON.parse(out)).toEqual({
    account: 1,
    recipients: [{ number: '27825550101', message: 1, cost: 1, due: null }],
    statuses: [],
    interrupted: true,
  })
  expect(JSON.parse(err)).toEqual({ error: 'Interrupted.' })
})

const many = numbers(2500)

/** Wraps the ports to record the number of recipients of each call. Runs `later` in every call except the first. */
const counting =
  (calls: number[], later?: () => never | 'overloaded') =>
  (ports: Ports): Ports => ({
    ...ports,
    messages: {
      ...ports.messages,
      accept: async (order) => {
        calls.push(order.texts.flatMap((text) => text.to).length)
        return (calls.length > 1 && later?.()) || ports.messages.accept(order)
      },
    },
  })

test('more than 1000 numbers are sent in calls of 1000, with one result', async () => {
  const calls: number[] = []
  const operator = anOperator({ ports: counting(calls) })
  await anAccount(operator.ports, { credits: 25_000 })
  const { recipients } = await operator.json<{ recipients: { number: string; message: number }[] }>(
    ...send('--to', many.join()),
  )
  expect(calls).toEqual([1000, 1000, 500])
  expect(recipients.map(({ number }) => number)).toEqual(many)
  expect(new Set(recipients.map(({ message }) => message)).size).toBe(2500)
})

const busy = () => 'overloaded' as const
const broken = () => {
  throw new Error('broken')
}
const second = many[1000] ?? ''

test.each([
  ['too busy', busy, 1, `The gateway is overloaded; the numbers from ${second} on were not sent. Try again.\n`],
  ['out of order', broken, 3, `It is unknown whether the numbers from ${second} on were sent.\nbroken\n`],
])('messages that were accepted before the gateway was %s are reported', async (_, later, expected, message) => {
  for (const format of [[], ['--json']]) {
    const operator = anOperator({ ports: counting([], later) })
    await anAccount(operator.ports, { credits: 25_000 })
    const { code, out, err } = await operator.run([...send('--to', many.join(), '--wait'), ...format])
    expect(code).toBe(expected)
    if (format.length === 0) {
      expect(out.match(/: message /g)).toHaveLength(1000)
      expect(err).toBe(message)
    } else {
      expect((JSON.parse(out) as { recipients: unknown[] }).recipients).toHaveLength(1000)
      expect(JSON.parse(err)).toEqual({ error: message.trim().split('\n').at(-1) })
    }
  }
})

test('if the first call fails, nothing is on standard output', async () => {
  const operator = anOperator({
    ports: (ports) => ({ ...ports, messages: { ...ports.messages, accept: () => Promise.resolve('overloaded') } }),
  })
  await anAccount(operator.ports)
  const message = 'The gateway is overloaded; nothing was sent. Try again.'
  expect(await operator.run(send('--to', aNumber()))).toEqual({ code: 1, out: '', err: `${message}\n` })
})

test('an interruption between two calls prints the result of the first, and the second is not made', async () => {
  for (const format of [[], ['--json']]) {
    const calls: number[] = []
    const operator = anOperator({
      ports: (ports) => ({
        ...ports,
        messages: {
          ...ports.messages,
          accept: (order) => {
            operator.interrupt()
            return counting(calls)(ports).messages.accept(order)
          },
        },
      }),
    })
    await anAccount(operator.ports, { credits: 25_000 })
    const { out, err } = await operator.run([...send('--to', many.join(), '--wait'), ...format])
    expect(calls).toEqual([1000])
    if (format.length === 0) {
      expect(out.match(/: message /g)).toHaveLength(1000)
      expect(err).toBe(`The numbers from ${second} on were not sent.\nInterrupted.\n`)
    } else {
      const { recipients, interrupted } = JSON.parse(out) as { recipients: unknown[]; interrupted: boolean }
      expect([recipients.length, interrupted]).toEqual([1000, true])
      expect(JSON.parse(err)).toEqual({ error: 'Interrupted.' })
    }
  }
})
