import { createBackOffice } from '@gateway/core'
import request from 'supertest'
import { startAsp } from '../../testing/start-asp.ts'

test('right credentials are OK; of a locked account ACCOUNTLOCKED; wrong ones FAIL, locked or not', async () => {
  const asp = await startAsp()
  const wrong = () => request(asp.url).get(`/api/auth.asp?user=${asp.account.login}&password=no`)
  expect((await asp.get('auth.asp')).text).toBe('Login=OK')
  expect((await wrong()).text).toBe('Login=FAIL')
  await createBackOffice(asp.ports).lockAccount(asp.account.id)
  expect((await asp.get('auth.asp')).text).toBe('Login=ACCOUNTLOCKED')
  expect((await wrong()).text).toBe('Login=FAIL')
  await asp.close()
})
