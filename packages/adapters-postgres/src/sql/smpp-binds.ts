import {
  silentProcessSeconds,
  type BindId,
  type BindMode,
  type SmppCredentialId,
  type SmppProcessId,
} from '@gateway/core/smpp-customers'
import { accountId } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

const bindId = column<BindId>('uuid')
const credentialId = column<SmppCredentialId>('int')

/** Condition that the process of a bind has reported in time. */
export const isLive = sql`exists (
    select from smpp_process
    where smpp_process.id = process and seen_at > now() - make_interval(secs => ${silentProcessSeconds})
  )`

/** Query for the credentials of accounts that have a receiving bind in a live process. */
export const receivingCredentials = (accounts: string) => sql`
select bound.credential_id
from (select distinct account_id from unnest(${accounts}) asked(account_id)) owner
cross join lateral (select id from smpp_credential where account_id = owner.account_id offset 0) credential
cross join lateral (
  select credential_id from smpp_bind where credential_id = credential.id and mode <> 'transmitter' and ${isLive} offset 0
) bound`

/**
 * Records that a process is alive. Also deletes processes that have been silent for a minute, with their binds.
 */
export const seeProcess = statement(
  'see-smpp-process',
  { parameters: { process: 'uuid' } },
  sql`
with silent as (
  delete from smpp_process where seen_at < now() - interval '1 minute' and id <> :process returning id
), binds as (
  delete from smpp_bind where process in (select id from silent)
)
insert into smpp_process (id) values (:process)
on conflict (id) do update set seen_at = now()`,
)

/** Locks a credential and returns the maximum of its binds; returns no row if there is no such credential. */
export const lockCredential = statement(
  'lock-smpp-credential',
  { parameters: { credential: 'int' }, columns: { binds: 'int' } },
  sql`select binds from smpp_credential where id = :credential for no key update`,
)

/** Counts the live binds of a credential: all binds, binds that transmit, and binds that receive. */
export const countBinds = statement(
  'count-smpp-binds',
  {
    parameters: { credential: 'int' },
    columns: { busy: 'int', transmitting: 'int', receiving: 'int' },
  },
  sql`
select count(*)::int as busy, (count(*) filter (where mode <> 'receiver'))::int as transmitting,
  (count(*) filter (where mode <> 'transmitter'))::int as receiving
from smpp_bind
where credential_id = :credential and ${isLive}`,
)

export const probeBinds = statement(
  'probe-smpp-binds',
  { parameters: { credential: 'int' } },
  sql`update smpp_bind set probe = true where credential_id = :credential and not probe`,
)

export const addBind = statement(
  'add-smpp-bind',
  {
    parameters: {
      ...{ id: 'uuid', process: 'uuid', credential: 'int', mode: 'text', remote: 'text', version: 'int' },
    },
  },
  sql`
insert into smpp_bind (id, process, credential_id, mode, remote, version)
values (:id, :process, :credential, :mode, :remote, :version)`,
)

export const closeBinds = statement(
  'close-smpp-binds',
  { parameters: { process: 'uuid', ids: 'uuid[]' } },
  sql`delete from smpp_bind where id = any (:ids) and process = :process`,
)

/**
 * Stores the figures of the binds of a process and deletes its other binds. Returns the binds that exist, each with
 * whether it is to be probed, and clears that mark.
 */
export const reportBinds = statement(
  'report-smpp-binds',
  {
    parameters: {
      ...{ process: 'uuid', ids: 'uuid[]', errors: 'text?[]' },
      ...{ strayTexts: 'bigint[]', submissions: 'bigint[]' },
    },
    columns: { id: bindId, probe: 'bool' },
  },
  sql`
with before as materialized (
  select id, probe from smpp_bind where process = :process for no key update
), gone as (
  delete from smpp_bind where process = :process and id <> all (:ids)
)
update smpp_bind
set last_error = report.last_error, stray_texts = report.stray_texts, submissions = report.submissions, probe = false
from unnest(:ids, :errors, :strayTexts, :submissions) report(id, last_error, stray_texts, submissions)
join before using (id)
where smpp_bind.id = any (array[report.id])
returning smpp_bind.id, before.probe`,
)

/** Returns the share of each credential's rate that the transmitting binds of a process have. */
export const ratesOfBinds = statement(
  'rates-of-smpp-binds',
  { parameters: { process: 'uuid' }, columns: { credential: credentialId, perSecond: 'float8' } },
  sql`
select credential.id as credential, credential.per_second::float8 * counted.own / counted.every as "perSecond"
from (
  select credential_id, count(*) filter (where process = :process) own, count(*) every
  from smpp_bind
  where mode <> 'receiver' and ${isLive}
    and credential_id = any (array(select credential_id from smpp_bind where process = :process))
  group by credential_id
) counted
join smpp_credential credential on credential.id = counted.credential_id
where counted.own > 0
order by credential.id`,
)

/** Lists the live binds of an account, or of all if it is null. */
export const listBinds = statement(
  'list-smpp-binds',
  {
    parameters: { account: 'int?' },
    columns: {
      id: bindId,
      process: column<SmppProcessId>('uuid'),
      credential: credentialId,
      account: accountId,
      systemId: 'text',
      mode: column<BindMode>('text'),
      remote: 'text',
      version: 'int',
      since: 'timestamptz',
      lastError: nullable(column<string>('text')),
      strayTexts: 'bigint',
      submissions: 'bigint',
    },
  },
  sql`
select bind.id, bind.process, bind.credential_id as credential, credential.account_id as account,
  credential.system_id as "systemId", bind.mode, bind.remote, bind.version, bind.since, bind.last_error as "lastError",
  bind.stray_texts as "strayTexts", bind.submissions
from smpp_bind bind
join smpp_credential credential on credential.id = bind.credential_id
where (:account is null or credential.account_id = :account) and ${isLive}
order by credential.account_id, credential.id, bind.since, bind.id`,
)
