import { Form, Link, Second } from '../../components.tsx'
import { amount } from '../../format.ts'
import { nameOf } from '../../layout.tsx'
import { forOperators } from '../../page.ts'

/** `/operator/acting`: the account that an operator looks at, and the end of it. */
export const acting = forOperators({
  path: '/operator/acting',
  async show({ backOffice, session: { actsAs } }) {
    const found = actsAs && (await backOffice.findAccount(actsAs.account))
    return {
      title: 'Acting as an account',
      place: 'operator-accounts',
      main:
        found === undefined ? (
          <>
            <h1>You look at no account</h1>
            <p>
              On the page of an account you can look at its pages as its owner sees them.{' '}
              <Link to="/operator/accounts">Accounts</Link>
            </p>
          </>
        ) : (
          <>
            <h1>You look at account {found.account.id}</h1>
            <p>
              {nameOf(found.account)}, {amount(found.balance)} credits. <Link to="/">Its pages</Link>
            </p>
            <Form to="/operator/acting">
              <Second>Stop looking</Second>
            </Form>
          </>
        ),
    }
  },
  async submit({ backOffice, operator, session: { id, actsAs } }) {
    if (actsAs === undefined) return { goTo: '/operator/acting' }
    await backOffice.endActingAs(actsAs.account, operator.id, id)
    return { goTo: `/operator/accounts/${actsAs.account}` }
  },
})
