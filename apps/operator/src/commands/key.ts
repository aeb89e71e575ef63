import type { ApiKey, KeyId } from '@gateway/core/accounts'
import { readAccount, readExpiry, readNetworks, readKeyId, type Moment, type AccountName } from '../arguments.ts'
import { command, Refused, yesOption, type Run } from '../command.ts'
import type { Row } from '../output.ts'
import { timeJson, timeText, keyState } from '../show.ts'
import { noSuchAccount, accountOf } from './account.ts'

interface Options {
  readonly label?: string
  readonly expires?: Moment
  readonly from?: readonly string[]
}

export const keyIssue = (run: Run) =>
  command(
    'issue',
    'issue an API key; it is shown only once and stored only as a hash',
    'gateway key issue 3 --label crm --expires 2027-12-31',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .option('--label <text>', 'what the key is for')
    .option('--expires <time>', 'a day (its end, GMT+2), a time CCYYMMDDHHmm, or days such as 90d', readExpiry)
    .option('--from <networks>', "only addresses or networks from which it may be used, separated by ','", readNetworks)
    .action((name: AccountName, { label, expires: expiry, from = [] }: Options) =>
      run(async ({ accountId, backOffice, ports, output }) => {
        const id = await accountId(name)
        const expires = expiry?.(ports.clock.now())
        const issued = await backOffice.commands.issueApiKey(id, { label, expires, from })
        if (issued === 'expired-already') throw new Refused('The expiry is in the past.')
        if (typeof issued === 'string') throw noSuchAccount(id)
        const until = expires === undefined ? '' : `\nIt is valid until ${timeText(expires)} (GMT+2).`
        const only = from.length === 0 ? '' : `\nIt may be used from ${from.join(', ')} only.`
        output.result(
          {
            id: issued.id,
            key: issued.key,
            account: id,
            label: label ?? '',
            expires: timeJson(expires),
            networks: from,
          },
          `Key ${issued.id} of account ${id}, shown only now:\n${issued.key}${until}${only}`,
        )
      }),
    )

const head = ['ID', 'KEY', 'LABEL', 'ISSUED (GMT+2)', 'EXPIRES', 'STATE', 'FROM']

export const keyList = (run: Run) =>
  command('list', "list an account's keys, including revoked and expired keys")
    .argument('<account>', "the account's id or login", readAccount)
    .action((name: AccountName) =>
      run(async ({ accountId, backOffice, output, ports }) => {
        const id = await accountId(name)
        await accountOf(backOffice, id)
        const now = ports.clock.now()
        const keys = await backOffice.queries.listApiKeys(id)
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

export const keySet = (run: Run) =>
  command(
    'set',
    'change the networks from which an API key may be used',
    'gateway key set 7 --from 192.0.2.0/24,2001:db8::/32',
  )
    .argument('<key-id>', "the key's id, as 'key list' shows it", readKeyId)
    .requiredOption(
      '--from <networks>',
      "only addresses or networks from which it may be used, separated by ','; 'any' removes the limit",
      readNetworks,
    )
    .action((key: KeyId, { from }: { readonly from: readonly string[] }) =>
      run(async ({ backOffice, output }) => {
        if (!(await backOffice.commands.restrictApiKey(key, from))) throw new Refused(`There is no key ${key}.`)
        const where = from.length === 0 ? 'anywhere' : `${from.join(', ')} only`
        output.result({ id: key, networks: from }, `Key ${key} may be used from ${where}.`)
      }),
    )

export const keyRevoke = (run: Run) =>
  command('revoke', 'revoke a key; every process refuses it within 5 seconds')
    .argument('<key-id>', "the key's id, as 'key list' shows it", readKeyId)
    .option(...yesOption)
    .action((id: KeyId, options: { readonly yes?: true }) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(
          `Revoke key ${id}? Programs that use it are refused from then on. This cannot be undone.`,
          options,
        )
        if ((await backOffice.commands.revokeApiKey(id)) !== 'revoked') throw new Refused(`There is no key ${id}.`)
        output.result({ id, state: 'revoked' }, `Key ${id} is revoked.`)
      }),
    )
