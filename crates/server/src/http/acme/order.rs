//! An order: an account, the names, how they are shown to lead here, and the certificate.

use std::sync::Arc;
use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, KeyAuthorization, NewAccount,
    NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::CertifiedKey;

use super::client::AcmeClient;
use super::{Acme, AcmeChallenge, AcmeError, Challenges};
use crate::http::acme::stored::{Shelf, pem};

/// How long an authority is waited for at each step.
const STEP: RetryPolicy = RetryPolicy::new().timeout(Duration::from_mins(2));

/// A new certificate with its key, in PEM.
pub(super) async fn order(
    settings: &Acme,
    client: AcmeClient,
    shelf: &Shelf,
    challenges: &Challenges,
) -> Result<String, AcmeError> {
    let account = account(settings, client, shelf).await?;
    let names = settings.domains.iter().cloned().map(Identifier::Dns);
    let names: Vec<_> = names.collect();
    let mut order = account.new_order(&NewOrder::new(&names)).await?;
    show(settings, &mut order, challenges).await?;
    let status = order.poll_ready(&STEP).await?;
    if status != OrderStatus::Ready {
        return Err(denial(&account, order).await);
    }
    let key = KeyPair::generate().map_err(|_| AcmeError::Other("no key could be made"))?;
    let request = request(settings, &key);
    let request = request.map_err(|_| AcmeError::Other("no request could be made"))?;
    order.finalize_csr(&request).await?;
    let chain = order.poll_certificate(&STEP).await?;
    let key = pem("PRIVATE KEY", &key.serialize_der());
    Ok(format!("{}\n{chain}\n{key}", settings.directory))
}

/// The account that was made before, or a new one.
async fn account(settings: &Acme, client: AcmeClient, shelf: &Shelf) -> Result<Account, AcmeError> {
    let builder = Account::builder_with_http(Box::new(client));
    if let Some(credentials) = shelf.account()? {
        return Ok(builder.from_credentials(credentials).await?);
    }
    let contact: Vec<&str> = settings.contact.iter().map(String::as_str).collect();
    let new = NewAccount {
        contact: &contact,
        // Whoever set this up has said so.
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let directory = settings.directory.clone();
    let (account, credentials) = builder.create(&new, directory, None).await?;
    shelf.keep_account(&credentials)?;
    Ok(account)
}

/// Puts there what the authority wants to find, and says that it is there.
async fn show(
    settings: &Acme,
    order: &mut Order,
    challenges: &Challenges,
) -> Result<(), AcmeError> {
    let kind = match settings.challenge {
        AcmeChallenge::Http01 => ChallengeType::Http01,
        AcmeChallenge::TlsAlpn01 => ChallengeType::TlsAlpn01,
    };
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let Some(mut challenge) = authorization.challenge(kind.clone()) else {
            let text = "the authority does not offer this kind of challenge";
            return Err(AcmeError::Other(text));
        };
        let text = challenge.key_authorization();
        match settings.challenge {
            AcmeChallenge::Http01 => {
                challenges.add_text(challenge.token.clone(), text.as_str().to_string());
            }
            AcmeChallenge::TlsAlpn01 => {
                let name = challenge.identifier().to_string();
                challenges.add_certificate(&name, shown(&name, &text)?);
            }
        }
        challenge.set_ready().await?;
    }
    Ok(())
}

/// "A self-signed certificate with the domain name and an acmeIdentifier extension" (RFC 8737 §3).
fn shown(name: &str, text: &KeyAuthorization) -> Result<Arc<CertifiedKey>, AcmeError> {
    let failed = AcmeError::Other("no certificate could be made for a challenge");
    let made = || {
        let key = KeyPair::generate().ok()?;
        let mut params = CertificateParams::new(vec![name.to_string()]).ok()?;
        let extension = CustomExtension::new_acme_identifier(text.digest().as_ref());
        params.custom_extensions = vec![extension];
        let certificate = params.self_signed(&key).ok()?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let chain = vec![certificate.der().clone()];
        // The extension is critical, and nobody but an authority knows it: the pair cannot be checked here.
        let key = aws_lc_rs::sign::any_supported_type(&key.into()).ok()?;
        Some(CertifiedKey::new(chain, key))
    };
    made().map(Arc::new).ok_or(failed)
}

fn request(settings: &Acme, key: &KeyPair) -> Result<Vec<u8>, rcgen::Error> {
    let mut params = CertificateParams::new(settings.domains.clone())?;
    params.distinguished_name = DistinguishedName::new();
    Ok(params.serialize_request(key)?.der().to_vec())
}

/// Which name the authority does not believe, and why.
async fn denial(account: &Account, order: Order) -> AcmeError {
    let (url, _) = order.into_parts();
    // What is known of the order is older than what the authority has found.
    let Ok(mut order) = account.order(url).await else {
        return AcmeError::Other("the authority does not believe that the names lead here");
    };
    let mut authorizations = order.authorizations();
    while let Some(Ok(authorization)) = authorizations.next().await {
        let problem = authorization
            .challenges
            .iter()
            .find_map(|one| one.error.as_ref());
        if let Some(problem) = problem {
            return AcmeError::Denied {
                domain: authorization.identifier().to_string(),
                problem: problem.to_string(),
            };
        }
    }
    AcmeError::Other("the authority does not believe that the names lead here")
}
