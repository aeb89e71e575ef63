import type { ConnectableProvider, ConnectionFields, ProviderConnection, StoredConnections } from '@gateway/core/fleet'
import type { ComponentChildren } from 'preact'
import { Form, Hidden, TextField } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'

/** Values of the form that are shown again. Secrets are not among them, because they are never sent to a browser. */
export type ShownFields = Omit<ConnectionFields, 'provider' | 'secrets'>

export const fieldsOf = (provider: ConnectableProvider, carrier: string, fields: Fields): ConnectionFields => ({
  ...{ carrier, provider: provider.name },
  secrets: Object.fromEntries(provider.secrets.map(({ name }) => [name, fields.trimmed(`secrets.${name}`)])),
  ...{ from: fields.trimmed('from'), baseUrl: fields.trimmed('baseUrl'), publicUrl: fields.trimmed('publicUrl') },
})

/** Returns the version that the reader saw, which the change must follow. */
export function versionOf(fields: Fields): number | undefined {
  const text = fields.text('after')
  return /^(?:0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : undefined
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

/** Returns the problems as sentences. The problem `''` concerns no field of the form. */
export const problemsOf = (problems: Problems): Problems =>
  Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, sentence(text)]))

/**
 * Form with the fields of a provider. With `connection`, it changes that carrier, and secrets that are left empty keep
 * their values.
 */
export function ConnectionForm({
  to,
  provider,
  stored,
  connection,
  shown,
  problems = {},
  children,
}: {
  readonly to: string
  readonly provider: ConnectableProvider
  readonly stored: StoredConnections
  readonly connection?: ProviderConnection | undefined
  readonly shown: ShownFields
  readonly problems?: Problems | undefined
  /** Button of the form. */
  readonly children: ComponentChildren
}) {
  const hasValue = (secret: string): boolean => connection?.secrets.includes(secret) ?? false
  const secretHint = (secret: ConnectableProvider['secrets'][number]): string => {
    const present = hasValue(secret.name) ? 'Leave it empty to keep the present one' : undefined
    const optional = !secret.isRequired && present === undefined ? 'You can add it later' : undefined
    return [secret.hint, present, optional].filter((text) => text !== undefined).join('. ')
  }
  return (
    <Form to={to}>
      <Hidden name="act" value="save" />
      <Hidden name="after" value={String(stored.version)} />
      {connection === undefined && (
        <TextField
          name="carrier"
          label="Name of the carrier"
          hint="1 to 32 of a-z, 0-9 and -. Reports and routes use it"
          value={shown.carrier}
          problems={problems}
        />
      )}
      {provider.secrets.map((secret) => {
        const hint = secretHint(secret)
        return (
          <TextField
            key={secret.name}
            name={`secrets.${secret.name}`}
            label={secret.label}
            type="password"
            autocomplete="new-password"
            problems={problems}
            {...(hint !== '' && { hint })}
          />
        )
      })}
      <TextField
        name="from"
        label="Sender"
        hint={provider.fromHint ?? 'The sender of messages that have none; may be empty'}
        value={shown.from}
        problems={problems}
      />
      <TextField
        name="baseUrl"
        label={provider.needsBaseUrl ? 'Base URL' : 'Base URL, if it is not the usual one'}
        hint={provider.baseUrlHint ?? 'For a test, the address of a simulated provider; otherwise leave it empty'}
        type="url"
        value={shown.baseUrl}
        problems={problems}
      />
      <TextField
        name="publicUrl"
        label="Public URL of this gateway"
        hint="The provider sends receipts and replies to it. It is the same for all carriers"
        type="url"
        value={shown.publicUrl}
        problems={problems}
      />
      {children}
    </Form>
  )
}
