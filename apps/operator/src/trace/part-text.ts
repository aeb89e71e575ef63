import type { LonePart } from '@gateway/core/smpp-customers'
import { incidentText } from '@gateway/wire'
import { printable, type Json } from '../output.ts'
import { outcomeText, timeJson, timeText } from '../show.ts'
import { bindJson, bindText } from './bind-text.ts'

/** Formats a part of an SMPP text that belongs to no message. */
export function partText({ id, part, total, account, number, bind, stored, ended, incidents }: LonePart): string {
  const facts = [
    ['part', `${id}, ${part} of the ${total} parts of a text`],
    ['account', String(account)],
    ['number', number],
    ['bind', bindText(bind)],
    ['credits', '0.0 charged'],
  ] as const
  const state =
    ended === undefined
      ? 'It waits for the other parts of its text.'
      : `Its text was never sent. It is ${outcomeText(ended.code)} since ${timeText(ended.at)}.`
  return [
    ...facts.map(([name, value]) => `${name.padEnd(8)}  ${printable(value)}`),
    '',
    state,
    '',
    `${timeText(stored)}  stored`,
    ...incidents.map(({ at, name }) => `${timeText(at)}  ${incidentText(name)}`),
    'All times are GMT+2.',
  ].join('\n')
}

export const partJson = ({ bind, total, stored, ended, incidents, ...part }: LonePart): Json => ({
  ...part,
  partCount: total,
  bind: bindJson(bind),
  accepted: timeJson(stored),
  statusCode: ended?.code ?? null,
  since: timeJson(ended?.at),
  incidents: incidents.map(({ at, name: incident }) => ({ time: timeJson(at), what: incident, carrier: null })),
})
