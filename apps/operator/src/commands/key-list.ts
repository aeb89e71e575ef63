import type { AccountId, ApiKey } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import type { Row } from '../output.ts'
import { keyState, timeJson, timeText } from '../show.ts'
import { accountOf } from './account-of.ts'

const head = ['ID', 'KEY', 'LABEL', 'ISSUED (GMT+2)', 'EXPIRES', 'STATE', 'FROM']

export const keyList = (run: Run) =>
  command('list', "list an account's keys, revoked and expired ones too")
    .argument('<id>', "the account's id", readAccountId)
    .action((id: AccountId) =>
      run(async ({ backOffice, output, ports }) => {
        await accountOf(backOffice, id)
        const now = ports.clock.now()
        const keys = await backOffice.listApiKeys(id)
        await output.rows(
          head,
          keys.map((key) => row(key, now)),
        )
      }),
    )

function row(key: ApiKey, now: number): Row {
  const state = keyState(key, now)
  const { id, prefix, label, issued, expires, revoked, from } = key
  return {
    json: {
      id,
      keyPrefix: prefix,
      label,
      issued: timeJson(issued),
      expires: timeJson(expires),
      revoked: timeJson(revoked),
      state,
      networks: from,
    },
    cells: [String(id), `${prefix}…`, label, timeText(issued), timeText(expires), state, from.join(', ')],
  }
}
