import type { AuditEntry, AuditSequence, ListedChange } from '@gateway/core/audit'
import { formatCredits } from '@gateway/core/credits'
import { formatStamp, instant } from '@gateway/core/time'
import { auditActionOf, auditWords } from './audit-words.ts'

const at = instant(Date.UTC(2026, 10, 27, 12, 30))
const entry = (record: object): AuditEntry => ({
  ...{ sequence: 1 as AuditSequence, at, ends: undefined, hash: '' },
  record: JSON.stringify(record),
})
const style = {
  credits: (amount: Parameters<typeof formatCredits>[0]) => `${formatCredits(amount)} cr`,
  time: formatStamp,
}
const words = (begun: object, ended?: object): ReturnType<typeof auditWords> => {
  const change: ListedChange = { begun: entry(begun), ended: ended && entry(ended) }
  return auditWords(change, style)
}

test.each<[title: string, begun: object, ended: object | undefined, ReturnType<typeof auditWords>]>([
  [
    'credits of a top-up, once',
    { action: 'topUp', account: 1, given: { amountTenths: 5_000_000, why: 'invoice 7' } },
    { outcome: 5_000_100, changed: { balanceTenths: [100, 5_000_100] } },
    {
      change: 'Add or take credits',
      input: 'credits 500000.0 cr, why invoice 7',
      outcome: 'balance 10.0 cr to 500010.0 cr',
    },
  ],
  [
    'the balance that a top-up returns',
    { action: 'topUp', given: { amountTenths: 10, why: 'x' } },
    { outcome: 110 },
    { change: 'Add or take credits', input: 'credits 1.0 cr, why x', outcome: 'balance 11.0 cr' },
  ],
  [
    'credits of a new account',
    { action: 'openAccount', given: { login: 'acme', credits: 1000, from: [], password: true } },
    { outcome: 7 },
    { change: 'Open an account', input: 'login acme, credits 100.0 cr, password yes', outcome: 'account 7' },
  ],
  [
    'whole credits of a transfer',
    { action: 'transferCredits', given: { from: 1, to: 2, quantity: 5 } },
    { outcome: 'from-account-locked' },
    {
      change: 'Transfer credits',
      input: 'from account 1, to account 2, credits 5.0 cr',
      outcome: 'from account locked',
    },
  ],
  [
    'what a closed account had',
    { action: 'closeAccount', given: {} },
    { outcome: { keysRevoked: 2, refunded: 30, writtenOff: 970, balance: 0 } },
    {
      change: 'Close the account',
      input: '',
      outcome: 'keys revoked 2, returned 3.0 cr, written off 97.0 cr, balance 0.0 cr',
    },
  ],
  [
    'until when an operator looks at an account',
    { action: 'actAs', account: 1 },
    { outcome: { until: Date.UTC(2026, 10, 27, 13) } },
    { change: 'View the pages of the account', input: '', outcome: 'until 20261127150000000' },
  ],
  [
    'the period of a replay',
    { action: 'startReplay', given: { webhook: 3, from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 2) } },
    { outcome: true },
    {
      change: 'Start a replay of a webhook',
      input: 'webhook 3, from 20261101020000000, to 20261102020000000',
      outcome: 'done',
    },
  ],
  [
    'a price that was none',
    { action: 'setPrice', given: { prefix: '27' } },
    { outcome: 'set', changed: { priceTenths: [null, 7] } },
    { change: 'Set a price', input: 'prefix 27', outcome: 'price none to 0.7 cr' },
  ],
  [
    'a change of truths and lists',
    { action: 'changeAccount', account: 1 },
    { outcome: 'changed', changed: { locked: [false, true], from: [[], ['192.0.2.0/24', '198.51.100.7/32']] } },
    {
      change: 'Change the account',
      input: '',
      outcome: 'locked no to yes; from none to 192.0.2.0/24, 198.51.100.7/32',
    },
  ],
  [
    'a list from which a number was removed',
    { action: 'unblockNumber', given: { number: '27825…01', reasons: ['blacklist', 'do-not-contact'] } },
    { outcome: ['blacklist'] },
    {
      change: 'Unblock a number',
      input: 'number 27825…01, reasons blacklisted, do not contact',
      outcome: 'blacklisted',
    },
  ],
  [
    'a list to which a number was added',
    { action: 'blockNumber', given: { number: '27825…01', reason: 'blacklist' } },
    { outcome: 'added' },
    { change: 'Block a number', input: 'number 27825…01, reason blacklisted', outcome: 'added' },
  ],
  [
    'a new operator',
    { action: 'addOperator', given: { name: 'ann', role: 'admin' } },
    { outcome: 1 },
    { change: 'Add an operator', input: 'name ann, role admin', outcome: 'operator 1' },
  ],
  [
    'an import of opt-outs',
    { action: 'importOptOuts', given: { numbers: 3 } },
    { outcome: 2 },
    { change: 'Import opt-outs', input: 'numbers 3', outcome: 'numbers added 2' },
  ],
  [
    'a change that changed nothing',
    { action: 'changeAccount', account: 1 },
    { outcome: 'nothing-changed' },
    { change: 'Change the account', input: '', outcome: 'nothing changed' },
  ],
  [
    'a change that is under way',
    { action: 'dropHistory' },
    undefined,
    {
      ...{ change: 'Drop old history', input: '', outcome: 'unknown' },
    },
  ],
  [
    'an action of a later version',
    { action: 'paintShed', given: { colorName: 'red' } },
    { outcome: 'failed: no paint' },
    { change: 'paint shed', input: 'color name red', outcome: 'failed: no paint' },
  ],
])('the words of %s', (_, begun, ended, expected) => {
  expect(words(begun, ended)).toEqual(expected)
})

test('an action is found by its name and by its label, in any letter case', () => {
  expect(['lockAccount', 'Lock the account', ' LOCK THE ACCOUNT '].map(auditActionOf)).toEqual(
    Array.from({ length: 3 }, () => 'lockAccount'),
  )
  expect(auditActionOf('Revoke an own API key')).toBe('revokeKey')
  expect(auditActionOf('Revoke an API key')).toBe('revokeApiKey')
  expect(auditActionOf('paintShed')).toBeUndefined()
})
