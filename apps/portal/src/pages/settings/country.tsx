import { parseCallingCode } from '@gateway/core/messages'
import { Form, Main, Notice, ProblemSummary, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forHolders, type View } from '../../page.ts'
import { SettingsTabs } from './settings-tabs.tsx'

const view = (code: string, problems: Problems = {}, isDone = false): View => ({
  title: 'Country',
  place: 'settings',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <>
      <h1>Settings</h1>
      <SettingsTabs at="/settings/country" />
      <ProblemSummary problems={problems} />
      {isDone && <Notice>The setting is stored. It applies to new lists and typed numbers.</Notice>}
      <Form to="/settings/country" class="panel">
        <h2>Country of your numbers</h2>
        <p>
          In lists and typed numbers, a number that begins with 0 and has no country code is read as one of this
          country. The check of a send shows each of them as written and as sent to. Without a country, such numbers get
          no message.
        </p>
        <TextField
          name="code"
          label="Calling code"
          value={code}
          problems={problems}
          hint="Such as 27 for South Africa or 43 for Austria. Leave it empty for no country."
        />
        <Main>Store</Main>
      </Form>
    </>
  ),
})

/** `/settings/country`: sets the country of numbers that are written without a country code. */
export const country = forHolders({
  path: '/settings/country',
  show: ({ account, query }) => view(account.callingCode ?? '', {}, query.get('done') === 'stored'),
  changes: 'setCallingCode',
  async submit({ gateway, account }, fields) {
    const text = fields.trimmed('code')
    const code = text === '' ? null : parseCallingCode(text)
    if (code === undefined) return view(text, { code: 'Enter the calling code of a country, such as 43.' })
    await gateway.commands.setCallingCode(account, code)
    return { goTo: '/settings/country?done=stored' }
  },
})
