import type { Page } from '../../page.ts'
import { invitation } from './invitation.tsx'
import { signInLink } from './sign-in-link.tsx'
import { signIn } from './sign-in.tsx'
import { signOut } from './sign-out.tsx'

export const sessionPages: readonly Page[] = [signIn, signInLink, invitation, signOut]
