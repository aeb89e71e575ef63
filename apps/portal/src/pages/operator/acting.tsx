import { Form, Link, Second } from '../../components.tsx'
import { amount } from '../../format.ts'
import { nameOf } from '../../layout.tsx'
import { forOperators } from '../../page.ts'

/** `/operator/acting`: shows which account the operator is viewing, and ends this. */
export const acting = forOperators({
  path: '/operator/acting',
  async show({ backOffice, session: { actsAs } }) {
    const found = actsAs && (await backOffice.queries.findAccount(actsAs.account))
    return {
      title: 'Viewing an account',
      place: 'operator-accounts',
      main:
        found === undefined ? (
          <>
            <h1>You are not viewing an account</h1>
            <p>
              On the page of an account you can look at its pages as its owner sees them.{' '}
              <Link to="/operator/accounts">Accounts</Link>
            </p>
          </>
        ) : (
          <>
            <h1>You are viewing account {found.account.id}</h1>
            <p>
              {nameOf(found.account)}, {amount(found.balance)} credits. <Link to="/">Its pages</Link>
            </p>
            <Form to="/operator/acting">
              <Second>Stop viewing</Second>
            </Form>
          </>
        ),
    }
  },
  async submit({ backOffice, operator, session: { id, actsAs } }) {
    if (actsAs === undefined) return { goTo: '/operator/acting' }
    await backOffice.commands.endActingAs(actsAs.account, operator.id, id)
    return { goTo: `/operator/accounts/${actsAs.account}` }
  },
})
