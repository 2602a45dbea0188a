//! What an event did, in the words of the pages.

use handfast_registry::Action;

/// An action as the beginning of a line; the name or the authority follows.
pub(super) fn action_words(action: Action) -> &'static str {
    match action {
        Action::Create => "Registered",
        Action::Reserve => "Reserved",
        Action::Activate => "Made active",
        Action::Change => "Changed",
        Action::Withdraw => "Withdrawn",
        Action::Restore => "Restored",
        Action::Transfer => "Transferred",
        Action::Erase => "Erased",
        Action::Mint => "Minted",
        Action::MintReserved => "Minted and reserved",
        Action::CreateAuthority => "Authority created",
        Action::RequestAuthority => "Authority requested",
        Action::ApproveAuthority => "Authority approved",
        Action::DeclineAuthority => "Authority declined",
        Action::ChangeAuthority => "Authority changed",
        Action::RetireAuthority => "Authority retired",
        Action::Grant => "Role granted",
        Action::Revoke => "Role revoked",
        Action::TransferAuthority => "Authority transferred",
        Action::Account => "Account created or changed",
        Action::Group => "Group created or changed",
        Action::Token => "Token created or revoked",
        Action::RequestAccess => "Access requested",
        Action::DeclineAccess => "Access declined or request withdrawn",
        Action::BeginLog => "Log begun",
        Action::ProposeNamespace => "Namespace proposed",
        Action::ApproveNamespace => "Namespace registered",
        Action::RefuseNamespace => "Namespace or claim declined",
        Action::ClaimNamespace => "Namespace claimed",
        Action::VerifyNamespace => "Claim verified",
        Action::ChangeNamespace => "Namespace changed",
        Action::DeprecateNamespace => "Namespace deprecated",
        Action::WithdrawNamespace => "Namespace withdrawn",
        Action::RenewNamespace => "Namespace renewed",
        Action::ImportNamespace => "Namespace imported",
        Action::CommentNamespace => "Comment on namespace",
        Action::NamespacePolicy => "Policy of namespaces set",
        _ => action.as_str(),
    }
}
