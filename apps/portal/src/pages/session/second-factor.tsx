import type { FactorToSetUp, RecoveryCodes } from '@gateway/core/people'
import { encode } from 'uqr'
import { Link, Panel, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import type { Place, View } from '../../page.ts'

/** Shows a TOTP secret as a QR code to scan and as text to type. */
export function ScannedSecret({ of: { secret, uri } }: { readonly of: FactorToSetUp }) {
  const { data, size } = encode(uri)
  const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <>
      <p>Scan this with an authenticator app, or type the secret into it. It is shown only this once.</p>
      <svg class="qr" role="img" aria-label="The secret as a QR code" viewBox={`0 0 ${size} ${size}`}>
        <path d={dark.join('')} />
      </svg>
      <p>
        <code class="secret">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
      </p>
    </>
  )
}

export const CodeField = ({ problems }: { readonly problems: Problems }) => (
  <TextField
    name="code"
    label="Code"
    hint="The six digits that the app shows, or one of your recovery codes"
    problems={problems}
    autocomplete="one-time-code"
  />
)

/** Page that shows the recovery codes once. `to` is the page to continue with. */
export const recoveryCodesView = ({ recoveryCodes }: RecoveryCodes, to: string, place?: Place): View => ({
  title: 'Your recovery codes',
  ...(place !== undefined && { place }),
  main: (
    <>
      <h1>Your recovery codes</h1>
      <Panel>
        <p>
          <strong>Keep them where you can find them without your phone. They are shown only this once.</strong> Each
          signs you in once instead of a code of the app.
        </p>
        <ul class="codes">
          {recoveryCodes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
      </Panel>
      <div class="actions">
        <Link to={to}>I have written them down</Link>
      </div>
    </>
  ),
})
