import { mayOperator } from '@gateway/core'
import { operatorRoles, type Operator, type OperatorRole } from '@gateway/core/people'
import { Form, Hidden, Main, Notice, Panel, Pill, ProblemSummary, Table, TextField, When } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'

const ROLE: Readonly<Record<OperatorRole, string>> = {
  support: 'Support: reads everything, locks and blocks, changes no money',
  admin: 'Admin: everything',
}

const roleOf = (text: string): OperatorRole | undefined => operatorRoles.find((role) => role === text)

const WORDS = {
  'name-taken': 'There is an operator of this name already.',
  'invalid-name': 'A name has 1 to 64 printable ASCII characters and no spaces.',
  'too-short': 'A password has at least 10 characters.',
  'too-common': 'Many people use this password, so it is guessed first. Choose another one.',
  'invalid-password': 'A password has at most 255 characters.',
}

interface ChangeResult {
  readonly notice?: View['main']
  readonly problems?: Problems
  readonly name?: string
}

async function view(visit: OperatorVisit, { notice, problems = {}, name = '' }: ChangeResult = {}): Promise<View> {
  const { backOffice, operator: own } = visit
  const isAdmin = mayOperator(own.role, 'lockOperator')
  const Act = ({ of: { id, name: operatorName }, act, word }: { of: Operator; act: string; word: string }) => (
    <Form to="/operator/operators">
      <Hidden name="act" value={act} />
      <Hidden name="operator" value={String(id)} />
      <button type="submit" class="plain">
        {word} {operatorName}
      </button>
    </Form>
  )
  return {
    title: 'Operators',
    place: 'operators',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        {notice}
        <ProblemSummary problems={problems} />
        <h1>Operators</h1>
        <Panel>
          <Table
            caption="People who run the gateway"
            rows={await backOffice.queries.listOperators()}
            empty="There are none."
            columns={[
              { head: 'Name', cell: (one) => one.name },
              { head: 'Role', cell: ({ role }) => role },
              {
                head: 'State',
                cell: ({ locked }) => <Pill tone={locked ? 'bad' : 'good'}>{locked ? 'locked' : 'open'}</Pill>,
              },
              { head: 'Added', cell: ({ added }) => <When at={added} /> },
              {
                head: 'Change',
                cell: (one) =>
                  isAdmin &&
                  one.id !== own.id && (
                    <>
                      <Act of={one} act={one.locked ? 'unlock' : 'lock'} word={one.locked ? 'Unlock' : 'Lock'} />
                      <Act
                        of={one}
                        act={one.role === 'admin' ? 'support' : 'admin'}
                        word={one.role === 'admin' ? 'Make support of' : 'Make admin of'}
                      />
                      <Act of={one} act="reset-factor" word="Remove the second factor of" />
                    </>
                  ),
              },
            ]}
          />
        </Panel>
        {isAdmin && (
          <Panel title="Add an operator">
            <Form to="/operator/operators">
              <Hidden name="act" value="add" />
              <TextField name="name" label="Name" value={name} problems={problems} />
              <TextField
                name="password"
                label="First password"
                hint="At least 10 characters"
                type="password"
                autocomplete="new-password"
                problems={problems}
              />
              <fieldset>
                <legend>Role</legend>
                {operatorRoles.toReversed().map((role, at) => (
                  <label key={role} class="box">
                    <input type="radio" name="role" value={role} checked={at === 0} /> {ROLE[role]}
                  </label>
                ))}
              </fieldset>
              <Main>Add</Main>
            </Form>
          </Panel>
        )}
      </>
    ),
  }
}

/** `/operator/operators`: lists the operators. An admin adds and locks operators and changes their roles. */
export const operators = forOperators({
  path: '/operator/operators',
  show: (visit) => view(visit),
  async submit(visit, fields) {
    const { backOffice, operator: own } = visit
    const act = fields.text('act')
    if (act === 'add') {
      const [name, role] = [fields.trimmed('name'), roleOf(fields.text('role'))]
      if (role === undefined) return view(visit, { name, problems: { name: 'Choose a role.' } })
      const added = await backOffice.commands.addOperator({ name, role }, fields.text('password'))
      if (typeof added !== 'string') return view(visit, { notice: <Notice>{name} can sign in.</Notice> })
      const field = added === 'name-taken' || added === 'invalid-name' ? 'name' : 'password'
      return view(visit, { name, problems: { [field]: WORDS[added] } })
    }
    const target = (await backOffice.queries.listOperators()).find(({ id }) => id === fields.number('operator'))
    // Operators cannot change themselves, so that nobody is locked out by mistake.
    if (target === undefined || target.id === own.id) return 'not-found'
    const role = roleOf(act)
    if (role !== undefined) await backOffice.commands.setOperatorRole(target.id, role)
    else if (act === 'lock') await backOffice.commands.lockOperator(target.id)
    else if (act === 'reset-factor') await backOffice.commands.resetOperatorFactor(target.id)
    else if (act === 'unlock') await backOffice.commands.unlockOperator(target.id)
    else return 'not-found'
    return view(visit, { notice: <Notice>{target.name} was changed. The change applies at once.</Notice> })
  },
})
