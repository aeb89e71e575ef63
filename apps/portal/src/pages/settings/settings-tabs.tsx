import { Link } from '../../components.tsx'

const tabs = [
  ['/settings/keys', 'API keys'],
  ['/settings/webhooks', 'Webhooks'],
  ['/settings/users', 'Users'],
  ['/settings/security', 'Security'],
] as const

/** The pages of the settings; `at`: the path of the one that is shown. */
export const SettingsTabs = ({ at }: { readonly at: (typeof tabs)[number][0] }) => (
  <ul class="tabs">
    {tabs.map(([path, title]) => (
      <li key={path}>
        <Link to={path} current={path === at}>
          {title}
        </Link>
      </li>
    ))}
  </ul>
)
