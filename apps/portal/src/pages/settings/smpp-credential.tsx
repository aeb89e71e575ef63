import {
  alphabets0,
  alphabets1,
  type SmppCredential,
  type SmppCredentialWithPassword,
  type SmppSettings,
  type SmppSettingsRefusal,
} from '@gateway/core/smpp-customers'
import { readNetwork } from '@gateway/server/configuration'
import { readUtcOffset, receiptExample, smppSheet, utcOffset } from '@gateway/wire'
import {
  Choice,
  Figures,
  Form,
  Hidden,
  Link,
  Main,
  Notice,
  Panel,
  ProblemSummary,
  Second,
  TextField,
} from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { forHolders, type Answer, type HolderVisit, type View } from '../../page.ts'

/** Returns the page that shows a new password once. */
export const newPassword = ({ credential: { systemId }, password }: SmppCredentialWithPassword): View => ({
  title: 'Your new password',
  place: 'settings',
  main: (
    <>
      <h1>Your new password</h1>
      <Panel>
        <p>
          <strong>Copy it now. It is shown only this once.</strong> The system_id is {systemId}.
        </p>
        <p>
          <code class="secret">{password}</code>
        </p>
      </Panel>
      <div class="actions">
        <Link to="/settings/smpp">I have copied it</Link>
      </div>
    </>
  ),
})

/** Values of the settings form, as text. */
type Written = Readonly<Record<'from' | 'alphabet0' | 'alphabet1' | 'country' | 'idempotent' | 'offset', string>>

const writtenOf = (credential: SmppCredential): Written => ({
  from: credential.from.join(', '),
  alphabet0: credential.alphabet0,
  alphabet1: credential.alphabet1,
  country: credential.country ?? '',
  idempotent: credential.isIdempotent ? 'yes' : 'no',
  offset: utcOffset(credential.receiptOffsetMinutes),
})

const writtenIn = (fields: Fields): Written => ({
  from: fields.trimmed('from'),
  alphabet0: fields.text('alphabet0'),
  alphabet1: fields.text('alphabet1'),
  country: fields.trimmed('country'),
  idempotent: fields.text('idempotent'),
  offset: fields.trimmed('offset'),
})

/** Reads the settings form. Returns the problems of the fields that cannot be used. */
function readSettings(written: Written): Partial<SmppSettings> | { readonly problems: Problems } {
  const networks = written.from.split(/[\s,]+/).filter((network) => network !== '')
  const alphabet0 = alphabets0.find((name) => name === written.alphabet0)
  const alphabet1 = alphabets1.find((name) => name === written.alphabet1)
  const receiptOffsetMinutes = written.offset === '' ? 0 : readUtcOffset(written.offset)
  const problems = {
    ...(networks.some((network) => readNetwork(network) === undefined) && { from: PROBLEMS.from }),
    ...(alphabet0 === undefined && { alphabet0: PROBLEMS.alphabet0 }),
    ...(alphabet1 === undefined && { alphabet1: PROBLEMS.alphabet1 }),
    ...(receiptOffsetMinutes === undefined && { offset: PROBLEMS.offset }),
  }
  if (alphabet0 === undefined || alphabet1 === undefined || receiptOffsetMinutes === undefined || 'from' in problems)
    return { problems }
  const country = written.country === '' ? undefined : written.country
  return {
    ...{ from: networks, alphabet0, alphabet1, country, receiptOffsetMinutes },
    isIdempotent: written.idempotent === 'yes',
  }
}

const PROBLEMS = {
  from: 'Enter addresses or networks such as 192.0.2.0/24, separated by commas.',
  alphabet0: 'Choose an alphabet.',
  alphabet1: 'Choose an alphabet.',
  country: 'No country has this calling code.',
  offset: 'Enter an offset from UTC such as +02:00.',
} as const

/** Fields of the form that a refusal of the settings concerns. Refusals of other settings do not occur here. */
const FIELD_OF: Partial<Record<SmppSettingsRefusal, keyof typeof PROBLEMS>> = {
  'unknown-country': 'country',
  'unknown-alphabet': 'alphabet0',
  'offset-out-of-range': 'offset',
}

const ALPHABET = { gsm: 'GSM 7-bit', latin1: 'Latin-1', ascii: 'ASCII' } as const

const SettingsForm = ({
  id,
  written,
  problems,
}: {
  readonly id: number
  readonly written: Written
  readonly problems: Problems
}) => (
  <Form to={`/settings/smpp/${id}`} class="panel">
    <Hidden name="do" value="change" />
    <h2>Settings</h2>
    <TextField
      name="from"
      label="Allowed addresses"
      hint="Addresses or networks that may bind, separated by commas. Empty: any."
      value={written.from}
      problems={problems}
    />
    <Choice
      name="alphabet0"
      label="Alphabet of data_coding 0"
      hint="What your software means by it. The bind table counts texts that do not fit."
      value={written.alphabet0}
      options={alphabets0.map((name) => [name, ALPHABET[name]] as const)}
      problems={problems}
    />
    <Choice
      name="alphabet1"
      label="Alphabet of data_coding 1"
      value={written.alphabet1}
      options={alphabets1.map((name) => [name, ALPHABET[name]] as const)}
      problems={problems}
    />
    <TextField
      name="country"
      label="Calling code for national numbers"
      hint="Completes numbers of TON national. Empty: they are refused."
      value={written.country}
      problems={problems}
    />
    <Choice
      name="idempotent"
      label="A repeated user_message_reference"
      hint="Use the first for software that sends again after a time-out."
      value={written.idempotent}
      options={[
        ['yes', 'gets the first answer'],
        ['no', 'is another message'],
      ]}
    />
    <TextField
      name="offset"
      label="Dates in receipts"
      hint="Offset from UTC, such as +02:00. Empty: UTC."
      value={written.offset}
      problems={problems}
    />
    <Second>Save</Second>
  </Form>
)

/** Finds the credential of the path among those of the account. */
const find = async ({ gateway, account, parameters }: HolderVisit): Promise<SmppCredential | undefined> =>
  (await gateway.queries.listSmppCredentials(account)).find(({ id }) => String(id) === parameters.id)

async function view(
  { gateway, account, query }: HolderVisit,
  credential: SmppCredential,
  { written, problems }: { readonly written: Written; readonly problems: Problems },
): Promise<View> {
  const { id, systemId } = credential
  const replies = await gateway.queries.repliesBy(account)
  return {
    title: systemId,
    place: 'settings',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <p>
          <Link to="/settings/smpp">SMPP</Link>
        </p>
        <h1>{systemId}</h1>
        {query.get('done') === 'changed' && <Notice>The settings are changed. They count within a second.</Notice>}
        <ProblemSummary problems={problems} />
        <Panel title="For the software that binds">
          <Figures of={smppSheet(credential, replies)} />
          <p class="hint">Your operator knows host and ports, and can change binds, window and rate.</p>
          <p>
            A receipt: <code>{receiptExample}</code>
          </p>
        </Panel>
        <SettingsForm id={id} written={written} problems={problems} />
        <Form to={`/settings/smpp/${id}`} class="panel">
          <Hidden name="do" value="rotate" />
          <h2>Password</h2>
          <p>A new password ends the binds that were opened with the present one.</p>
          <Main>Make a new password</Main>
        </Form>
        <div class="actions">
          <Link to={`/settings/smpp/${id}/remove`}>Remove it</Link>
        </div>
      </>
    ),
  }
}

async function change(visit: HolderVisit, credential: SmppCredential, fields: Fields): Promise<Answer> {
  const written = writtenIn(fields)
  const settings = readSettings(written)
  const again = (problems: Problems) => view(visit, credential, { written, problems })
  if ('problems' in settings) return again(settings.problems)
  const changed = await visit.gateway.commands.changeSmppCredential(visit.account, credential.id, settings)
  if (changed === 'no-such-credential') return 'not-found'
  if (typeof changed === 'object') return { goTo: `/settings/smpp/${credential.id}?done=changed` }
  const field = FIELD_OF[changed] ?? 'from'
  return again({ [field]: PROBLEMS[field] })
}

/** `/settings/smpp/<id>`: shows the sheet of a credential, changes its settings, and replaces its password. */
export const smppCredential = forHolders({
  path: '/settings/smpp/:id',
  async show(visit) {
    const credential = await find(visit)
    return credential === undefined
      ? 'not-found'
      : view(visit, credential, { written: writtenOf(credential), problems: {} })
  },
  changes: 'rotateSmppCredential',
  async submit(visit, fields) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    if (fields.text('do') !== 'rotate') return change(visit, credential, fields)
    const rotated = await visit.gateway.commands.rotateSmppCredential(visit.account, credential.id)
    return typeof rotated === 'string' ? 'not-found' : newPassword(rotated)
  },
})

/** `/settings/smpp/<id>/remove`: asks before a credential is removed, because this cannot be undone. */
export const smppRemoval = forHolders({
  path: '/settings/smpp/:id/remove',
  isForm: true,
  async show(visit) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    const title = `Remove ${credential.systemId}?`
    return {
      title,
      place: 'settings',
      main: (
        <>
          <h1>{title}</h1>
          <p>Software that is bound with it is disconnected and refused from then on. This cannot be undone.</p>
          <div class="actions">
            <Form to={`/settings/smpp/${credential.id}/remove`}>
              <Main>Remove it</Main>
            </Form>
            <Link to="/settings/smpp">Keep it</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'removeSmppCredential',
  async submit(visit) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    await visit.gateway.commands.removeSmppCredential(visit.account, credential.id)
    return { goTo: '/settings/smpp?done=removed' }
  },
})
