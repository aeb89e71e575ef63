import type { Case } from '../../case.ts'
import { expectEqual, expectRest, expectRestError } from '../../expectations.ts'
import type { Keyed, TestedGateway } from '../../tested-gateway.ts'
import { balance, fill, transfer } from '../../verbs.ts'

const path = '/credits/transfer'
const bodyOf = (sendingAccountNumber: unknown, receivingAccountNumber: unknown, transferQuantity: unknown) => ({
  sendingAccountNumber,
  receivingAccountNumber,
  transferQuantity,
})
const done = ',"transferSuccessful":true'
const refused = (word: string): string => `,"transferSuccessful":false,"transferError":"${word}"`

/**
 * Requests a transfer by REST and, for a main account, by the query string, and asserts that both refuse with the same
 * word.
 */
async function expectRefusal(
  gateway: TestedGateway,
  word: string,
  { by = gateway.main, from, to, quantity = '1' }: { by?: Keyed; from: number; to: number; quantity?: string },
): Promise<void> {
  const json = `{"sendingAccountNumber":${from},"receivingAccountNumber":${to},"transferQuantity":${quantity}}`
  expectRest(await gateway.rest(path, { by, body: json }), refused(word))
  const parameters = { fromAccountId: String(from), toAccountId: String(to), transferQuantity: quantity }
  expectEqual((await gateway.asp('creditstransfer.asp', parameters, by)).text, `Transfer=${word}`)
}

export const transferCases: readonly Case[] = [
  {
    of: ['2.13', 'spec 4.1', 'spec 1', 'spec 2', 'spec 4.2'],
    title: 'credits move from main to sub, sub to main, and sub to sub, exactly, by REST and by the query string',
    alone: 'sub',
    run: async (gateway) => {
      const { main, sub, otherSub } = gateway
      const before = await fill(gateway, 5)
      const other = await balance(gateway, otherSub)
      expectRest(await gateway.rest(path, { body: bodyOf(main.id, sub.id, 3) }), done)
      expectEqual(await balance(gateway, sub), before + 30)
      expectRest(await gateway.rest(path, { body: bodyOf(sub.id, otherSub.id, 2) }), done)
      expectEqual([await balance(gateway, sub), await balance(gateway, otherSub)], [before + 10, other + 20])
      const asp = async (from: number, to: number, quantity: string) =>
        (
          await gateway.asp('creditstransfer.asp', {
            fromAccountId: String(from),
            toAccountId: String(to),
            transferQuantity: quantity,
          })
        ).text
      expectEqual(await asp(otherSub.id, sub.id, '2'), 'Transfer=Success')
      expectEqual(await asp(sub.id, main.id, '3'), 'Transfer=Success')
      expectEqual([await balance(gateway, sub), await balance(gateway, otherSub)], [before, other])
    },
  },
  {
    of: ['2.13'],
    title: 'the key may be that of the sub account that gives, and of no other sub account',
    alone: 'sub',
    run: async (gateway) => {
      const { main, sub, otherSub } = gateway
      const before = await fill(gateway, 5)
      expectRest(await gateway.rest(path, { by: sub, body: bodyOf(sub.id, main.id, 1) }), done)
      expectEqual(await balance(gateway, sub), before - 10)
      expectRest(
        await gateway.rest(path, { by: otherSub, body: bodyOf(sub.id, main.id, 1) }),
        refused('invalidFromAccount'),
      )
      await transfer(gateway, main.id, sub.id, 1)
    },
  },
  {
    of: ['3.7', '2.13', 'spec 4.2'],
    title: 'each refusal of a transfer, and its precedence; nothing moves',
    alone: 'sub',
    run: async (gateway) => {
      const { main, sub, otherSub, stranger } = gateway
      const before = await fill(gateway, 5)
      await expectRefusal(gateway, 'invalidFromAccount', { from: stranger.id, to: stranger.id, quantity: '0' })
      await expectRefusal(gateway, 'invalidFromAccount', { from: 999_999_999, to: sub.id })
      await expectRefusal(gateway, 'invalidToAccount', { from: sub.id, to: stranger.id, quantity: '0' })
      await expectRefusal(gateway, 'sameAccount', { from: sub.id, to: sub.id, quantity: '0' })
      await expectRefusal(gateway, 'invalidQuantity', { from: sub.id, to: otherSub.id, quantity: '0' })
      await expectRefusal(gateway, 'invalidQuantity', { from: sub.id, to: otherSub.id, quantity: '1000000000001' })
      await expectRefusal(gateway, 'invalidQuantity', { from: sub.id, to: otherSub.id, quantity: '9'.repeat(40) })
      await expectRefusal(gateway, 'insufficientCredits', { from: sub.id, to: main.id, quantity: String(before) })
      await expectRefusal(gateway, 'insufficientCredits', { from: sub.id, to: main.id, quantity: '1000000000000' })
      expectEqual(await balance(gateway, sub), before)
    },
  },
  {
    of: ['3.7', '1.14', 'spec 2', 'spec 4.2'],
    title: 'a locked account neither gives nor receives; a locked main account gets lockedFromAccount for any transfer',
    run: async (gateway) => {
      const { main } = gateway
      const locked = gateway.account('locked')
      await expectRefusal(gateway, 'lockedFromAccount', { from: locked.id, to: main.id, quantity: '0' })
      await expectRefusal(gateway, 'lockedToAccount', { from: main.id, to: locked.id, quantity: '0' })
      await expectRefusal(gateway, 'lockedFromAccount', { from: locked.id, to: locked.id })
      const lockedMain = gateway.account('lockedMain')
      await expectRefusal(gateway, 'lockedFromAccount', { by: lockedMain, from: lockedMain.sub, to: lockedMain.id })
      await expectRefusal(gateway, 'lockedFromAccount', { by: lockedMain, from: lockedMain.id, to: lockedMain.sub })
    },
  },
  {
    of: ['2.13', 'spec 7.1', 'spec 2'],
    title: 'fields that are missing or not written as whole numbers are 422, and named',
    run: async (gateway) => {
      const { main, sub } = gateway
      for (const [names, body] of [
        [/sendingAccountNumber/, bodyOf(undefined, sub.id, 1)],
        [/sendingAccountNumber/, bodyOf(String(main.id), sub.id, 1)],
        [/sendingAccountNumber/, bodyOf(`W${main.id}`, sub.id, 1)],
        [/receivingAccountNumber/, bodyOf(main.id, null, 1)],
        [/receivingAccountNumber/, bodyOf(main.id, [sub.id], 1)],
        [/transferQuantity/, bodyOf(main.id, sub.id, '1')],
        [/transferQuantity/, bodyOf(main.id, sub.id, 1.5)],
        [/transferQuantity/, bodyOf(main.id, sub.id, undefined)],
      ] as const)
        expectRestError(await gateway.rest(path, { body }), 422, names)
      for (const quantity of ['1.0', '1e0', '"1"'])
        expectRestError(
          await gateway.rest(path, {
            body: `{"sendingAccountNumber":${main.id},"receivingAccountNumber":${sub.id},"transferQuantity":${quantity}}`,
          }),
          422,
          /transferQuantity/,
        )
      for (const body of ['[]', '1', 'null']) expectRestError(await gateway.rest(path, { body }), 422)
    },
  },
  {
    of: ['3.7', 'spec 4.2, rule 5', 'spec 5, rule 4', 'spec 2'],
    title: "the query string takes the main account's key or pair only, ids without W, and a quantity of digits",
    alone: 'sub',
    run: async (gateway) => {
      const { main, sub } = gateway
      const before = await fill(gateway, 5)
      const ask = async (query: string) => (await gateway.query('creditstransfer.asp', query)).text
      const rest = `fromAccountId=${sub.id}&toAccountId=${main.id}`
      expectEqual(await ask(`apikey=${sub.key}&${rest}&transferQuantity=1`), 'Transfer=invalidUser')
      expectEqual(await ask(`apikey=wrong&${rest}&transferQuantity=1`), 'Transfer=invalidUser')
      expectEqual(await ask(`${rest}&transferQuantity=1`), 'Transfer=invalidUser')
      const key = `apikey=${main.key}`
      expectEqual(
        await ask(`${key}&fromAccountId=W${sub.id}&toAccountId=${main.id}&transferQuantity=1`),
        'Transfer=invalidFromAccount',
      )
      expectEqual(
        await ask(`${key}&fromAccountId=${sub.id}&toAccountId=W${main.id}&transferQuantity=1`),
        'Transfer=invalidToAccount',
      )
      expectEqual(await ask(`${key}&toAccountId=${main.id}&transferQuantity=1`), 'Transfer=invalidFromAccount')
      expectEqual(await ask(`${key}&fromAccountId=${sub.id}&transferQuantity=1`), 'Transfer=invalidToAccount')
      for (const wrong of ['', '-1', '%2B1', '1.0', '1e1', 'one', '0x1'])
        expectEqual(await ask(`${key}&${rest}&transferQuantity=${wrong}`), 'Transfer=invalidQuantity', wrong)
      expectEqual(await balance(gateway, sub), before)
      const pair = `user=${main.user}&password=${encodeURIComponent(main.password)}`
      expectEqual(await ask(`${pair}&${rest}&transferQuantity=1`), 'Transfer=Success')
      expectEqual(await balance(gateway, sub), before - 10)
      await transfer(gateway, main.id, sub.id, 1)
    },
  },
]
