import { watchAnswers } from '../../../packages/server/testing/watch-answers.ts'
import { endpoints } from '../src/routes.ts'
import { isDescribed } from './is-described.ts'

const others: string[] = []

// A test fails with an answer that the page of the interface does not describe.
afterAll(
  watchAnswers(({ method, url = '' }, { statusCode }, body) => {
    const path =
      url
        .split('?')[0]
        ?.toLowerCase()
        .replace(/^\/api/, '') ?? ''
    if (statusCode !== 200 || method === 'HEAD' || !endpoints.has(path)) return
    if (!isDescribed(path, body)) others.push(`${path}: ${body.slice(0, 300)}`)
  }),
)
afterEach(() => expect(others.splice(0)).toEqual([]))
