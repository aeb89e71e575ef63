import { manualOptOutText, type AccountId, type OptOut } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { each, mapped, type Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'
import { accountOf } from './account-of.ts'

export const optoutList = (run: Run) =>
  command('list', 'list who has opted out of the messages of an account, and with which words')
    .argument('<account>', "the account's id", readAccountId)
    .action((id: AccountId) =>
      run(async ({ backOffice, gateway, output }) => {
        const optOuts = each(gateway.listOptOuts(await accountOf(backOffice, id)))
        await output.rows(['NUMBER', 'SINCE (GMT+2)', 'ANSWERS', 'TEXT'], mapped(optOuts, row))
      }),
    )

const row = ({ number, since, reply }: OptOut): Row => ({
  json: {
    number,
    since: timeJson(since),
    arrival: reply?.id ?? null,
    answers: reply?.answers ?? null,
    text: reply?.text ?? manualOptOutText,
  },
  cells: [number, timeText(since), String(reply?.answers ?? ''), reply?.text ?? manualOptOutText],
})
