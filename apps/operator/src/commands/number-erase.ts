import type { ErasedNumber, HeldUp, Msisdn } from '@gateway/core'
import { hostname, userInfo } from 'node:os'
import { readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run } from '../context.ts'
import { withKeyInUse } from '../webhook-words.ts'

export const numberErase = (run: Run) =>
  command(
    'erase',
    'erase the owner of a number from all that is stored but opt-outs and blocks; it cannot be undone',
    `gateway number erase 27825550101 --dry-run
  gateway number erase 27825550101

Numbers and texts are replaced; messages, their states and all money stay. Nothing is done while a
message to the number waits, or the receipt of one may still come: 3 days. Backups and the files of
logs, carriers and customers are not reached.`,
  )
    .argument('<number>', 'in international form', readNumber)
    .option('--dry-run', 'show what is stored of it, and change nothing')
    .action((number: Msisdn, { dryRun }: { readonly dryRun?: true }) =>
      run((context) => (dryRun ? tell(context, number) : erase(context, number))),
    )

async function tell({ backOffice, output }: Context, number: Msisdn): Promise<void> {
  const { messages, inbound, contacts, suppressions } = await backOffice.exportNumber(number)
  const held = await backOffice.heldUp(number)
  const counts = { messages: messages.length, arrivals: inbound.length, contacts: contacts.length }
  output.result(
    { changed: false, number, ...counts, suppressions: suppressions.length, ...held },
    [
      `Stored of ${number}: ${messages.length} messages, ${inbound.length} arrivals, ${contacts.length} contacts.`,
      `Opt-outs and blocks, which would stay: ${suppressions.length}.`,
      isFree(held) ? 'It can be erased now. Nothing was changed.' : `${heldText(held)} Nothing was changed.`,
    ].join('\n'),
  )
}

async function erase({ backOffice, output }: Context, number: Msisdn): Promise<void> {
  const by = `${userInfo().username} on ${hostname()}`
  const erased = await output.during('Erasing', withKeyInUse(backOffice.eraseNumber(number, by)))
  if ('heldUp' in erased) throw new Refused(`${heldText(erased.heldUp)} Nothing was erased: try again then.`)
  const { messages, inbound, contacts, events } = erased.erased
  output.result(
    {
      ...{ changed: true, erasure: erased.erasure, messages, arrivals: inbound, contacts, events },
      ...{ suppressions: erased.suppressions, ...erased.left },
    },
    text(number, erased),
  )
}

function text(number: Msisdn, { erasure, erased, left, suppressions }: ErasedNumber): string {
  const { messages, inbound, contacts, events } = erased
  return [
    `${number} is erased from ${messages} messages, ${inbound} arrivals, ${contacts} contacts, and from events in ${events} places.`,
    ...(isFree(left) ? [] : [`${heldText(left)} They came meanwhile: erase again then.`]),
    ...(suppressions === 0 ? [] : [`Opt-outs and blocks that stay, with the number: ${suppressions}.`]),
    `The record of it is number ${erasure}: gateway number erasures`,
  ].join('\n')
}

const isFree = ({ waiting, awaitingReceipt }: HeldUp): boolean => waiting + awaitingReceipt === 0

const heldText = ({ waiting, awaitingReceipt }: HeldUp): string =>
  [
    ...(waiting === 0 ? [] : [`${waiting} messages to it wait to be sent.`]),
    ...(awaitingReceipt === 0 ? [] : [`Of ${awaitingReceipt} messages to it the receipt may still come.`]),
  ].join(' ')
