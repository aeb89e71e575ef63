import { readFileSync } from 'node:fs'
import type { TransferFailure } from '@gateway/core/credits'
import type { DoubtDecision } from '@gateway/core/dispatch'
import type { PausedCarrier } from '@gateway/core/fleet'
import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { messageSequence, type PauseReason, type PushFailure } from '@gateway/core/webhooks'
import { migrations } from './migrations.ts'
import {
  DELIVERY_KIND,
  EVENT_CODE,
  LANE,
  LEDGER,
  LIST_STATE,
  OPT_KEYWORD,
  RATED,
  REPLAY_STATE,
  SUPPRESSION,
  VERDICT,
  WEBHOOK_STATE,
} from './stored-codes.ts'

type Codes = Readonly<Record<string, number | string>>

/** Codes of docs/stored-codes.md, by the title of their section. */
const sections: Readonly<Record<string, Codes>> = {
  'Status codes': OUTCOME,
  Lanes: LANE,
  'Entries of the ledger': LEDGER,
  'What a limit counts': RATED,
  Suppressions: SUPPRESSION,
  Keywords: OPT_KEYWORD,
  'Types of events': EVENT_CODE,
  'Kinds of deliveries to SMPP customers': DELIVERY_KIND,
  'States of endpoints': WEBHOOK_STATE,
  'States of lists': LIST_STATE,
  'Verdicts on tries': VERDICT,
  'States of replays': REPLAY_STATE,
}

/**
 * Words of types of core, because a type has no list of its words at run time. The build fails if core has other words.
 */
const pauseReasons = { 'by-request': 1, failing: 1 } satisfies Record<PauseReason, 1>
const modes = { paused: 1, drained: 1 } satisfies Record<PausedCarrier['mode'], 1>
const failures = {
  'not-a-url': 1,
  'not-https': 1,
  'credentials-in-url': 1,
  'port-not-allowed': 1,
  'too-long': 1,
  'internal-address': 1,
  'name-not-found': 1,
  'connection-failed': 1,
  'tls-failed': 1,
  timeout: 1,
  'connection-closed': 1,
  'invalid-answer': 1,
  stopped: 1,
  'not-signed': 1,
  unreadable: 1,
} satisfies Record<PushFailure, 1>
const transferResults = {
  done: 1,
  'from-account-locked': 1,
  'to-account-locked': 1,
  'insufficient-credits': 1,
} satisfies Record<'done' | Exclude<TransferFailure, 'failed'>, 1>

const page = readFileSync(new URL('../../../docs/stored-codes.md', import.meta.url), 'utf8')

const rowsOf = (title: string): readonly (readonly string[])[] => {
  const [, section = ''] = page.split(`\n## ${title}\n`)
  const [own = ''] = section.split('\n## ')
  const rows = own.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

test.each(Object.entries(sections))('the page lists the codes of "%s"', (title, codes) => {
  expect(rowsOf(title)).toEqual(Object.entries(codes).map(([name, code]) => [String(code), name]))
})

test('the page lists the stored words', () => {
  const words = {
    'incident.what': Object.values(INCIDENT),
    'webhook.paused_for': Object.keys(pauseReasons),
    'webhook_attempt.failure': Object.keys(failures),
    'carrier_mode.mode': Object.keys(modes),
    'promotion.decision': ['send', 'end'] satisfies readonly DoubtDecision[],
    'client_request.answer': Object.keys(transferResults),
  }
  const listed = rowsOf('Words').map(([column = '', list = '']) => [
    column.replaceAll('`', ''),
    list.replace('of a transfer: ', '').split(', '),
  ])
  expect(Object.fromEntries(listed)).toEqual(words)
})

test('the page lists the numbers of the events of a message', () => {
  const numbers = [
    messageSequence(OUTCOME.unknown, 'handover'),
    messageSequence(OUTCOME.sent, 'handover'),
    messageSequence(OUTCOME.unknown, 'receipt'),
    messageSequence(OUTCOME.delivered, 'receipt'),
  ]
  expect(rowsOf('Numbers of events of a message').map(([code]) => Number(code))).toEqual(numbers)
})

describe.each(migrations)('migration $version $name', ({ sql }) => {
  const tables: Readonly<Record<string, Codes>> = {
    ...{ OUTCOME, INCIDENT, LANE, LEDGER, RATED, SUPPRESSION, OPT_KEYWORD },
    ...{ EVENT_CODE, WEBHOOK_STATE, LIST_STATE, VERDICT, REPLAY_STATE },
  }

  test('every number or word beside its name, as in "2 /* LEDGER.transfer */", is the code', () => {
    const named = Array.from(sql.matchAll(/('[^']*'|\d+)(?:::\w+)? \/\* (\w+)\.([\w.-]+) \*\//g))
    const spelt = named.map(([, code = '', table = '', name = '']) => [table, name, code.replaceAll("'", '')])
    const right = spelt.map(([table = '', name = '']) => [table, name, String(tables[table]?.[name])])
    expect(spelt).toEqual(right)
  })

  test('the codes in the comment of a column, as in "-- LANE: 0 single, 1 bulk", are right', () => {
    const comments = Array.from(sql.matchAll(/-- ([A-Z_]+): (\d.*)/g))
    const codes = comments.flatMap(([, table = '', list = '']) =>
      list.split(', ').map((each) => {
        const [code = '', name = ''] = each.split(' ')
        return [table, name, code]
      }),
    )
    expect(codes).toEqual(codes.map(([table = '', name = '']) => [table, name, String(tables[table]?.[name])]))
  })
})
