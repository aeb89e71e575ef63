import { Link } from '../components.tsx'
import type { View } from '../page.ts'

const saying = (status: NonNullable<View['status']>, title: string, text: string): View => ({
  status,
  title,
  main: (
    <>
      <h1>{title}</h1>
      <p>{text}</p>
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </>
  ),
})

export const missing: View = saying(404, 'Page not found', 'The address may be mistyped, or the page no longer exists.')

export const forbidden: View = saying(
  403,
  'Nothing was done',
  'The form did not come from a page of this portal that was opened since you signed in. Open the page again and repeat the change.',
)

export const notOfRole: View = saying(
  403,
  'Nothing was done',
  'Your role may not do this. Ask an owner of the account, or an operator with the role admin.',
)

export const tooLarge: View = saying(413, 'Nothing was done', 'The form or its file is too large.')

export const unavailable: View = {
  ...saying(503, 'Nothing was done', 'The gateway is too busy at this moment. Try again in a few seconds.'),
  retryAfterSeconds: 2,
}

/** Page for an error that certainly had no effect, for example because the database does not answer. */
export const unanswerable: View = {
  ...saying(
    503,
    'The gateway cannot answer now',
    'Nothing was done. Try again in a few seconds. If this page comes again, tell the operator the request id below.',
  ),
  retryAfterSeconds: 2,
}

export const trouble: View = saying(
  500,
  'Something went wrong in the gateway',
  'Check the list of messages before you repeat the action: it may have succeeded.',
)
