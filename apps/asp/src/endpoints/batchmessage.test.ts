import { credits as amount } from '@gateway/core/credits'
import { aSender, numbers, scriptedCarrier } from '@gateway/core/testing'
import { startAsp, type Asp, type AspOptions } from '../../testing/start-asp.ts'

let asp: Asp
const start = async (options?: AspOptions) => {
  asp = await startAsp(options)
}
afterEach(() => asp.close())

const send = async (query: string) => (await asp.get('batchmessage.asp', query)).text
const credits = async () => (await asp.get('credits.asp')).text
const one = '27825550101'

describe('the text', () => {
  test('is sent as decoded', async () => {
    let sent = ''
    await start({
      gateway: (gateway) => ({
        ...gateway,
        commands: {
          ...gateway.commands,
          sendMessages: (account, texts) => {
            sent = texts.map(({ text }) => text).join()
            return gateway.commands.sendMessages(account, texts)
          },
        },
      }),
    })
    await send(`numbers=${one}&message=a%2Bb+c%26%0A100%%E9`)
    expect(sent).toBe('a+b c&\n100%é')
  })
})

describe('an error of the whole call', () => {
  test.each([
    [`message=%E2%80%8B&numbers=${one}`, 'No message given'],
    [`message=x&numbers=${numbers(60).join(';')}&numbers=${numbers(41).join(';')}`, 'Too many numbers supplied'],
  ])('row %#: %.40s', async (query, error) => {
    await start()
    expect(await send(query)).toBe(`Error="${error}"`)
    expect(await credits()).toBe('Credits=100')
  })

  test('comes before the lock of the account', async () => {
    await start({ account: { locked: true } })
    expect(await send(`numbers=${one}`)).toBe('Error="No message given"')
  })
})

describe('scheduled', () => {
  const isScheduled = async () => {
    const batches = asp.ports.claimedBatches
    // Only messages that are due at once are in the queue.
    const dispatcher = await batches.register(60)
    const batch = await batches.claim(dispatcher, {
      carrier: scriptedCarrier().id,
      lane: 'single',
      messagesMax: 10,
      markedMax: 10,
      leaseSeconds: 60,
    })
    return batch === 'nothing'
  }

  test.each(['', '2026101810011', '202610182400', '202701010000%00'])('%j sends at once', async (time) => {
    await start()
    expect(await send(`message=x&numbers=${one}&scheduled=${time}`)).toBe('27825550101=1&')
    expect(await isScheduled()).toBe(false)
  })
})

test('a full store leads to 503 with Retry-After', async () => {
  await start({
    gateway: (gateway) => ({
      ...gateway,
      commands: { ...gateway.commands, sendMessages: () => Promise.resolve('overloaded') },
    }),
  })
  const answer = await asp.get('batchmessage.asp', `message=x&numbers=${one}`)
  expect([answer.status, answer.text, answer.headers['retry-after']]).toEqual([503, 'Error="Service unavailable"', '1'])
})

describe('with a clientref', () => {
  const query = `message=x&numbers=${one};y;27825550102`

  test('a repeated send gets the first answer byte for byte and is carried out once', async () => {
    await start({ account: { credits: 15 } })
    const first = await send(`${query}&clientref=order%207`)
    expect(first).toBe(`${one}=1&y=BADDEST&27825550102=INSUFFICIENT CREDITS&`)
    await asp.ports.ledger.topUp(asp.account.id, amount(500), 'meanwhile', asp.clock.now())
    for (const again of ['clientref=order+7', 'CLIENTREF=+order+7+&clientref=8', 'clientref=order%207&scheduled=soon'])
      expect(await send(`${query}&${again}`)).toBe(first)
    expect(await credits()).toBe('Credits=51')
  })

  test('a blank one counts as missing; an invalid one is refused after all other checks, and nothing is sent', async () => {
    await start()
    expect(await send(`message=x&numbers=${one}&clientref=+`)).toBe(`${one}=1&`)
    expect(await send(`message=x&numbers=${one}&clientref=&clientref=7`)).toBe(`${one}=2&`)
    for (const wrong of ['%00', 'a%0Ab', 'k'.repeat(256)]) {
      expect(await send(`message=x&numbers=${one}&clientref=${wrong}`)).toBe(
        'Error="clientref must be 1 to 255 printable characters"',
      )
      expect(await send(`numbers=${one}&clientref=${wrong}`)).toBe('Error="No message given"')
    }
    expect(await credits()).toBe('Credits=98')
  })

  test('another validity makes another request; an invalid validity is refused, and nothing is sent', async () => {
    await start()
    const query = `message=x&numbers=${one}`
    expect(await send(`${query}&clientref=7&validity=+060+`)).toBe(`${one}=1&`)
    expect(await send(`${query}&clientref=7&validity=60`)).toBe(`${one}=1&`)
    expect(await send(`${query}&clientref=7&validity=61`)).toBe('Error="clientref was used for another request"')
    for (const wrong of ['0', '4321', '1.5', '-1', 'x', '1e3', '%00'])
      expect(await send(`${query}&validity=${wrong}`)).toBe('Error="validity must be 1 to 4320 minutes"')
    for (const right of ['', '+', '1', '4320']) expect(await send(`${query}&validity=${right}`)).toMatch(/^27.*=\d+&$/)
    expect(await credits()).toBe('Credits=95')
  })

  test('a sender that the account may use is accepted; any other is refused, and nothing is sent', async () => {
    await start()
    const query = `message=x&numbers=${one}`
    const says = { destinations: ['27'], defaultFor: [], carriers: [], otherwise: 'refuse' } as const
    await asp.ports.senders.allow({ account: asp.account.id, sender: aSender('Acme 1'), ...says })
    expect(await send(`${query}&sender=+Acme+1+`)).toBe(`${one}=1&`)
    expect(await send(`${query}&sender=+`)).toBe(`${one}=2&`)
    for (const wrong of ['Acme', 'acme+1', '12', 'A%00', 'AcmeAndSons1', '%D0%96'])
      expect(await send(`${query}&sender=${wrong}`)).toBe('Error="Invalid sender"')
    expect(await send(`message=x&numbers=${one};4915112345678&sender=Acme+1`)).toBe('Error="Invalid sender"')
    expect(await credits()).toBe('Credits=98')
  })

  test('another priority or flash makes another request; 0 and false count as omitted; invalid values are refused', async () => {
    await start()
    const query = `message=x&numbers=${one}`
    for (const same of ['', '&priority=+0&flash=False', '&priority=&flash=0'])
      expect(await send(`${query}&clientref=7${same}`)).toBe(`${one}=1&`)
    for (const other of ['&priority=1', '&flash=TRUE', '&flash=1'])
      expect(await send(`${query}&clientref=7${other}`)).toBe('Error="clientref was used for another request"')
    for (const wrong of ['4', '-1', '01', 'x', '%00'])
      expect(await send(`${query}&priority=${wrong}`)).toBe('Error="priority must be 0 to 3"')
    for (const wrong of ['2', 'yes', 'TRUEE', '%00'])
      expect(await send(`${query}&flash=${wrong}`)).toBe('Error="flash must be true or false"')
    expect(await send(`${query}&priority=3&flash=1`)).toMatch(/^27.*=\d+&$/)
    expect(await credits()).toBe('Credits=98')
  })
})
